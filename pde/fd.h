/* fd.h - what every finite-difference pricer sets up before its first time step, and the formulas of each step.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h and the folder trid beside it.

   Coordinates, difference weights, boundaries, final values, time steps, ADI schemes and interpolation, on plain arrays
   and small structs, for the host and for kernels. A call on points that crowd around its strike (examples/fd_call.c):

       fd_axis axis = {0, 8 * STRIKE, POINTS, 1, {STRIKE}, {STRIKE / 5}, {FD_MIDWAY}};
       fd_times times = {MATURITY, STEPS, FD_EQUAL, 1, FD_THETA, 0.5, 4, 0, NULL, NULL};
       int face[2] = {FD_LINEAR, FD_LINEAR}, count, status = fd_axis_points(&axis, s);
       if (!status) status = fd_cells_f64(POINTS, s, face, cell, far);
       if (!status) status = fd_schedule(&times, MOST_STEPS, step, &count);

   The equation is V_t + sum of drift_i V_i + diffusion_i V_ii + mixed_ij V_ij = kill V. A march is all time steps, from
   the final values at maturity backwards to time 0. A is the left-hand side without V_t, less kill V.

   A line is the points x[0] < ... < x[n-1] along one axis. At each point, p and m are the slopes of u above and below
   it (differences over spacings), and the point's cell has two numbers, h and w:
       first derivative  m + w (p - m),  second  h (p - m),  A u = drift m + flow (p - m), flow = h diffusion + w drift.
   Differences are taken first, so that single precision loses nothing. A face is the first or last point of a line. It
   has such a cell too, and its boundary condition sets h and w. Upwinding is a maximum: it raises flow to drift, and to
   0. A coupling is an off-diagonal coefficient, the weight of a neighbour. docs/fd.md derives all of this and says how
   kernels use it.

   The functions under "set-up in each precision" and "in each step" exist with _f32 and _f64. In C++ those of the
   second group exist without a suffix too. Everything before them is in double precision: set-up is rare, and rounding
   it once is all that a march can see.

     coordinates
       fd_axis_points       uniform, or crowded around up to three places, which lie on a node or midway
       fd_axis_map, fd_map_point    the same point by point, for threads that take one each
       fd_grid_check        checks the user's own grid; all that follows takes any increasing one
     final values
       fd_average_told      average of a function of one variable over a cell, with kinks and jumps given: exact for
                            pieces that are polynomials up to degree 7
       fd_average           average over a cell in one to three dimensions; finds kinks and jumps itself
       fd_final_value       at a grid point: the average over its cell if it has a kink or jump, else the value
     values at a point
       fd_interpolate       weights of four points for the value and two derivatives, by a cubic
     time
       fd_schedule          time steps of any kind, equal or graded, with a Rannacher start; they hit dates exactly
       fd_schedule_part     some of them
     schemes
       fd_scheme_of         Douglas, Craig-Sneyd, Modified Craig-Sneyd, Hundsdorfer-Verwer as numbers
       fd_scheme_theta      the theta of each, for two or three factors
       fd_scheme_theta_drift    the same where drifts exceed diffusion, and whether steps are short enough
       fd_times_of          times whose theta is left to the scheme
     a march
       fd_final_as          the final value at a point, in one of four ways
       fd_plan_check        checks a problem's choices for its march
       fd_coefficient_time  the time at which a step's coefficients are taken
       fd_shifted           where the value at a point comes from at a date
     set-up in each precision
       fd_cells             the cells of a line, faces included, as the functions below read them
       fd_cell_at           one of them, for threads that take one each
       fd_pace_of           step data: a time step as numbers
     in each step, a point
       fd_lane_first, fd_lane_second    derivatives along a line       2 sub + 1 mul + 2 FMA; 2 sub + 2 mul + 1 FMA
       fd_lane_mixed        the mixed derivative from nine values               8 sub + 4 mul + 8 FMA
       fd_lane_row          couplings of a point, central, upwind or fitted     3 mul + 1 FMA + 1 sub (+ 2 max)
       fd_lane_apply        the row applied to three values                     2 sub + 1 mul + 1 FMA
       fd_lane_source       what a given slope adds                             2 mul + 2 FMA
       fd_lane_matrix       the row of 1 - size A, and is it dominant?          2 mul + 2 add + 1 FMA
       fd_lane_matrix_at    the same; at faces it omits couplings that prevent dominance
       fd_lane_exercise     a value after a step, with early exercise      1 division, 2 FMA, 1 sub, 2 comparisons
       fd_lane_at_date      a value after the events of a date, likewise   2 comparisons
       fd_lane_lag          the row without couplings of the wrong sign    2 selections
       fd_lane_face_three   eliminates a face's third point by its neighbour's row
       fd_lane_value        a value or derivative from four values or a tensor of them
     messages
       fd_status_string, fd_status_of

   What they share:
     Status   FD_OK = 0, a negative number for what is wrong with an argument, or 1 + the index of the point, date or
              row that is wrong. Every function that can refuse says why; results are then unspecified. NaN and
              infinities are recognised by their bits, so -ffast-math does not matter.
     Memory   The caller's. The functions allocate nothing, print nothing and have no state.
     Device   All functions are for host and device, and for one thread. */

#ifndef FD_P_BODY
#ifndef FD_H
#define FD_H

#include "../trid.h"

#define FD_VERSION 200 /* 100 * major + minor */

/* The values of a status that are not 1 + an index. */
enum {
    FD_OK = 0,
    FD_BAD_ARGUMENT = -1, /* a null pointer */
    FD_BAD_SIZE = -2,     /* fewer than 4 points, a count out of range, or steps too short to be distinguished */
    FD_BAD_NUMBER = -3,   /* NaN, infinite, out of order, or not positive where it must be */
    FD_NO_ROOM = -5,      /* more steps than there is room for, or less memory than a problem needs */
    FD_OUTSIDE = -6,      /* a point outside the grid */
    /* Of a problem (fd_status): */
    FD_BAD_AXIS = -7,         /* detail is fd_axis_map's status, or 1 + the index of a bad point if points were given */
    FD_BAD_TIMES = -8,        /* detail is fd_schedule's status */
    FD_BAD_SPOT = -9,         /* the spot is not within the axis */
    FD_MODEL_NAN = -10,       /* not finite: the model's numbers of an axis (only the axis is reported) or of a step (no
                                 place is reported), or its terms at a point in a step */
    FD_FINAL_NAN = -11,       /* the payoff at a point is not finite */
    FD_NOT_SOLVED = -12,      /* the value at a point is not finite after a step, or after the events at its date */
    FD_LAUNCH_FAILED = -13,   /* CUDA refused a copy or a launch; detail is the cudaError_t */
    FD_NOT_ALONE = -14,       /* at a point in a step, an axis's terms depend on others, against the declaration */
    FD_TOO_FEW_NUMBERS = -15, /* the model writes or reads more numbers of an axis, or of a step, than it declares */
    FD_MIXED_UNDECLARED = -16,   /* at a point a mixed term is not 0; detail is what MODEL_mixed lacks */
    FD_CHANGES_UNDECLARED = -17, /* at a point, terms that the model declares time-independent change */
    FD_ILL_POSED = -18,          /* at a point a diffusion is negative, or a mixed term too large for the diffusions */
    FD_GREW = -19,               /* the march grew, see growth; more steps, a larger theta or upwinding help */
    FD_UNSTABLE = -20,           /* an explicit march needs shorter steps; detail is how many suffice */
    /* Of an axis: */
    FD_PLACE_OUTSIDE = -30,   /* a place is not within the axis */
    FD_PLACE_ORDER = -31,     /* a place is not above the one before it */
    FD_PLACE_AT_END = -32,    /* a place at an end of the axis cannot lie midway between two points */
    FD_PLACES_SHARE = -33,    /* two aligned places would share a point; take more points, or move the places apart */
    FD_PLACE_SQUEEZED = -34,  /* alignment would squeeze points to a quarter of their distance; take more points */
    FD_BAD_ALIGNMENT = -35,   /* align is unknown */
    FD_BAD_FACE = -36,        /* face is unknown; in a march, axis says which */
    FD_TOO_MANY_POINTS = -37, /* batch.points has no room for the axis; detail is how many points it has */
    /* Of steps: */
    FD_BAD_STEPS = -38,      /* steps not in 1 .. 2^28 */
    FD_BAD_GRADING = -39,    /* grading is unknown */
    FD_BAD_KIND = -40,       /* kind is unknown */
    FD_BAD_THETA = -41,      /* theta not in 0 .. 1 */
    FD_TOO_MANY_STEPS = -42, /* batch.steps has no room for the march; detail is how many steps it takes */
    FD_TOO_MANY_DATES = -43, /* batch.dates has no room for the problem's; detail is how many it has */
    /* Of a march's choices: */
    FD_BAD_SCHEME = -44,       /* scheme is unknown */
    FD_BAD_COEFFICIENTS = -45, /* coefficients is unknown */
    FD_BAD_FINALS = -46,       /* finals is unknown */
    FD_BAD_KINKS = -47,        /* kinks not in 0 .. 4, or kink detail - 1 is not finite, or not above the one before */
    FD_BAD_EXERCISE = -48,     /* exercise is unknown */
    FD_BAD_EVENT = -49         /* at date detail - 1, what is unknown, or cash or proportion is not finite */
};

/* Returns the text of a status. */
TB_HD const char *fd_status_string(int status)
{
    return status == FD_OK              ? "done"
           : status > 0                 ? "point, date or row status - 1 is not finite, or not in increasing order"
           : status == FD_BAD_ARGUMENT  ? "bad argument: a null pointer"
           : status == FD_BAD_SIZE      ? "too few or too many points, a count out of range, or steps too short"
           : status == FD_BAD_NUMBER    ? "NaN or infinite, not in order, or not positive"
           : status == FD_NO_ROOM       ? "too little room or memory"
           : status == FD_OUTSIDE       ? "the point is outside the grid"
           : status == FD_BAD_AXIS      ? "an axis cannot be made: see axis and detail"
           : status == FD_BAD_TIMES     ? "the time steps cannot be made: see detail"
           : status == FD_BAD_SPOT      ? "the spot is not within the axis"
           : status == FD_MODEL_NAN     ? "the model gave a number that is not finite"
           : status == FD_FINAL_NAN     ? "the payoff gave a number that is not finite"
           : status == FD_NOT_SOLVED    ? "a value is not finite after a step"
           : status == FD_LAUNCH_FAILED ? "CUDA refused a copy or a launch: see detail"
           : status == FD_NOT_ALONE
               ? "terms along the axis depend on another axis, which the model does not declare: see axis"
           : status == FD_TOO_FEW_NUMBERS    ? "the model uses more numbers than it declares"
           : status == FD_MIXED_UNDECLARED   ? "the model has a mixed term that it does not declare"
           : status == FD_CHANGES_UNDECLARED ? "the model's terms change in time, which it does not declare"
           : status == FD_ILL_POSED          ? "a diffusion is negative, or a mixed term too large for the diffusions"
           : status == FD_GREW               ? "the march grew: take more steps, a larger theta, or upwinding"
           : status == FD_UNSTABLE           ? "an explicit march needs more steps: see detail"
           : status == FD_PLACE_OUTSIDE      ? "a place is not within the axis"
           : status == FD_PLACE_ORDER        ? "a place is not above the one before it"
           : status == FD_PLACE_AT_END       ? "a place at an end of the axis cannot lie midway between two points"
           : status == FD_PLACES_SHARE       ? "two aligned places share a point: more points, or places further apart"
           : status == FD_PLACE_SQUEEZED     ? "alignment would squeeze the points around a place: more points"
           : status == FD_BAD_ALIGNMENT      ? "unknown alignment of a place"
           : status == FD_BAD_FACE           ? "unknown kind of face: see axis"
           : status == FD_TOO_MANY_POINTS    ? "more points than batch.points has room for: see axis and detail"
           : status == FD_BAD_STEPS          ? "steps must be 1 .. 2^28"
           : status == FD_BAD_GRADING        ? "unknown grading of the steps"
           : status == FD_BAD_KIND           ? "unknown kind of steps"
           : status == FD_BAD_THETA          ? "theta must be 0 .. 1"
           : status == FD_TOO_MANY_STEPS     ? "more steps than batch.steps has room for: detail is how many there are"
           : status == FD_TOO_MANY_DATES     ? "more dates than batch.dates has room for: detail is how many there are"
           : status == FD_BAD_SCHEME         ? "unknown scheme"
           : status == FD_BAD_COEFFICIENTS   ? "unknown choice of coefficients"
           : status == FD_BAD_FINALS         ? "unknown choice of final values"
           : status == FD_BAD_KINKS          ? "kinks must be 0 .. 4, finite and increasing"
           : status == FD_BAD_EXERCISE       ? "unknown exercise"
           : status == FD_BAD_EVENT          ? "the event at date detail - 1 is unknown or not finite"
                                             : "unknown status";
}

/* The outcome of a march. */
typedef struct {
    int what, detail;        /* FD_OK, or what is wrong */
    int axis, i, j, k, step; /* where; -1 if it does not apply; step 0 is the first, from maturity */
    int weak;                /* rows that are not diagonally dominant, in the first and the last step together */
    float growth; /* the largest magnitude at time 0 over the largest that the march was given: final values, boundary
                     values at time 0, given slopes times the axis, what FD_CHANGE_VALUES added at a point. 0 if all of
                     these are 0, or if the march did not end */
} fd_status;

/* FD_GREW says that growth exceeds this. The values of a stable march grow by little more than exp(-kill maturity): a
   rate of -18 % for 50 years stays below. An unstable march multiplies its largest wave in each step, and has cost
   single precision four of its seven digits by then. */
enum { FD_MOST_GROWTH = 10000 };

/* Returns a status with weak and growth 0. */
TB_HD fd_status fd_status_of(int what, int detail, int axis, int i, int j, int k, int step)
{
    fd_status status;
    status.what = what, status.detail = detail, status.axis = axis, status.i = i, status.j = j, status.k = k;
    status.step = step, status.weak = 0, status.growth = 0;
    return status;
}

enum { FD_P_MOST = 1 << 28 }; /* points of an axis, steps of a march, dates: no more than this */

TB_HD double fd_p_max(double x, double y)
{
    return x > y ? x : y;
}

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

/* How a place is aligned with the points. */
enum { FD_ANYWHERE, FD_ON_NODE, FD_MIDWAY };

/* The description of an axis. */
typedef struct {
    double low, high; /* its first and last point */
    int points;       /* at least 4 */
    int places;       /* 0 .. 3, how many of the entries below count; 0: uniform */
    double place[3];  /* in low .. high, increasing */
    double width[3];  /* points are evenly spaced up to about this distance from the place; beyond it, spacings grow in
                         proportion to the distance; 0: the place is aligned, but attracts no points */
    int align[3];     /* FD_ANYWHERE, FD_ON_NODE (an end is one), FD_MIDWAY between two nodes (not at an end) */
} fd_axis;

/* What fd_map_point needs of an axis. With v = i / (points - 1), point i is the x at which
   sum of asinh((x - place) / width)  has made a share s of its growth from low to high, where
   s = v + v (1 - v) (bend[0] + bend[1] v + bend[2] v^2). The polynomial puts places on nodes, or midway. */
typedef struct {
    double low, high, start, growth, bend[3];
    double place[3], width[3]; /* those of the axis */
    double half[3];            /* half the distance between the two points around a place that lies midway */
    int twice[3];              /* twice the index of the place, odd if midway; -1: not aligned */
    int points, places;
    int drawing, only; /* how many places have a width; the index of the last of them */
} fd_map;

/* Returns the sum, which the points share out evenly; x itself if no place attracts points. */
TB_HD double fd_p_crowd(const fd_map *map, double x)
{
    double sum = map->drawing ? 0 : x;
    for (int k = 0; k < map->places; k++)
        if (map->width[k] > 0) sum += asinh((x - map->place[k]) / map->width[k]);
    return sum;
}

/* Returns its derivative. */
TB_HD double fd_p_density(const fd_map *map, double x)
{
    double sum = map->drawing ? 0 : 1;
    for (int k = 0; k < map->places; k++) {
        double z = (x - map->place[k]) / map->width[k];
        if (map->width[k] > 0) sum += 1 / (map->width[k] * sqrt(1 + z * z));
    }
    return sum;
}

/* Inverts the sum: by a formula for one place, else by Newton's method within a bracket. It bisects if a step leaves
   the bracket, and at every fourth step, so that it always converges: to within 1e-13 of the sum, less than a millionth
   of a spacing. */
TB_HD double fd_p_uncrowd(const fd_map *map, double sum)
{
    if (!map->drawing) return sum;
    if (map->drawing == 1) return map->place[map->only] + map->width[map->only] * sinh(sum);
    double low = map->low, high = map->high, x = low + (high - low) / 2;
    for (int i = 1; i < 400; i++) {
        double off = fd_p_crowd(map, x) - sum, next = x - off / fd_p_density(map, x);
        if (fabs(off) <= 1e-13) return next < map->low ? map->low : next > map->high ? map->high : next;
        if (off > 0)
            high = x;
        else
            low = x;
        double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) return middle;
        x = next > low && next < high && i % 4 ? next : middle;
    }
    return x;
}

/* Returns the point of index v (points - 1), before aligned points are set to their places. */
TB_HD double fd_p_map_at(const fd_map *map, double v)
{
    double s = v + v * (1 - v) * (map->bend[0] + v * (map->bend[1] + v * map->bend[2]));
    return fd_p_uncrowd(map, map->start + s * map->growth);
}

/* Finds the polynomial that takes v[k] to s[k] and keeps both ends, count <= 3, by divided differences. Returns its
   least slope. */
TB_HD double fd_p_bend(int count, const double *v, const double *s, double *bend)
{
    double d[3] = {0, 0, 0}, least = 1;
    for (int k = 0; k < count; k++) d[k] = (s[k] - v[k]) / (v[k] * (1 - v[k]));
    if (count > 2) d[2] = (d[2] - d[1]) / (v[2] - v[1]);
    if (count > 1) d[1] = (d[1] - d[0]) / (v[1] - v[0]);
    if (count > 2) d[2] = (d[2] - d[1]) / (v[2] - v[0]);
    bend[0] = d[0] - (count > 1 ? v[0] * d[1] : 0) + (count > 2 ? v[0] * v[1] * d[2] : 0);
    bend[1] = d[1] - (count > 2 ? (v[0] + v[1]) * d[2] : 0);
    bend[2] = d[2];
    /* The slope is 1 + c0 + c1 v + c2 v^2 + c3 v^3. It is least at an end or where c1 + 2 c2 v + 3 c3 v^2 = 0. */
    double c0 = bend[0], c1 = 2 * (bend[1] - bend[0]), c2 = 3 * (bend[2] - bend[1]), c3 = -4 * bend[2];
    double root = 4 * c2 * c2 - 12 * c3 * c1, q = -(c2 + (c2 < 0 ? -1 : 1) * sqrt(root > 0 ? root : 0) / 2);
    double at[4] = {0, 1, 0, 0};
    if (root >= 0 && fabs(q) < 3 * fabs(c3)) at[2] = q / (3 * c3);
    if (root >= 0 && fabs(c1) < fabs(q)) at[3] = c1 / q;
    for (int i = 0; i < 4; i++) {
        double slope = 1 + c0 + at[i] * (c1 + at[i] * (c2 + at[i] * c3));
        if (at[i] >= 0 && at[i] <= 1 && slope < least) least = slope;
    }
    return least;
}

/* Computes what fd_map_point needs to make the points of an axis.
   Needs    low < high; places within them, increasing; widths of 0, or of at least 1e-9 of the axis
   Returns  FD_OK, FD_BAD_ARGUMENT (null), FD_BAD_SIZE (points not in 4 .. 2^28, places not in 0 .. 3), FD_BAD_NUMBER
            (NaN, infinite, an axis of no or infinite length, a width negative or too small), FD_BAD_ALIGNMENT,
            FD_PLACE_OUTSIDE, FD_PLACE_ORDER, FD_PLACE_AT_END, FD_PLACES_SHARE or FD_PLACE_SQUEEZED
   Cost     about a hundred double operations, and up to 400 evaluations of asinh or sinh if a place lies midway */
TB_HD int fd_axis_map(const fd_axis *axis, fd_map *map)
{
    if (!axis || !map) return FD_BAD_ARGUMENT;
    if (axis->points < 4 || axis->points > FD_P_MOST || axis->places < 0 || axis->places > 3) return FD_BAD_SIZE;
    double range = axis->high - axis->low, last = axis->points - 1;
    if (!trid_finite_f64(axis->low) || !trid_finite_f64(range) || !(range > 0)) return FD_BAD_NUMBER;
    map->low = axis->low, map->high = axis->high, map->points = axis->points, map->places = axis->places;
    map->drawing = 0, map->only = 0;
    for (int k = 0; k < 3; k++)
        map->place[k] = 0, map->width[k] = 0, map->half[k] = 0, map->bend[k] = 0, map->twice[k] = -1;
    for (int k = 0; k < axis->places; k++) {
        double place = axis->place[k], width = axis->width[k];
        int align = axis->align[k];
        if (align != FD_ANYWHERE && align != FD_ON_NODE && align != FD_MIDWAY) return FD_BAD_ALIGNMENT;
        if (!trid_finite_f64(place) || !trid_finite_f64(width) || width < 0) return FD_BAD_NUMBER;
        if (width > 0 && width < 1e-9 * range) return FD_BAD_NUMBER;
        if (!(place >= axis->low && place <= axis->high)) return FD_PLACE_OUTSIDE;
        if (k > 0 && !(place > axis->place[k - 1])) return FD_PLACE_ORDER;
        if (align == FD_MIDWAY && (place <= axis->low || place >= axis->high)) return FD_PLACE_AT_END;
        map->place[k] = place, map->width[k] = width;
        if (width > 0) map->drawing++, map->only = k;
    }
    map->start = fd_p_crowd(map, axis->low);
    map->growth = fd_p_crowd(map, axis->high) - map->start;
    if (!trid_finite_f64(map->growth) || !(map->growth > 0)) return FD_BAD_NUMBER;

    /* Give each aligned place its index, and find its share of the growth. */
    int count = 0, which[3] = {0, 0, 0};
    double v[3] = {0, 0, 0}, s[3] = {0, 0, 0};
    for (int k = 0; k < axis->places; k++) {
        int midway = axis->align[k] == FD_MIDWAY;
        if (axis->align[k] == FD_ANYWHERE || axis->place[k] <= axis->low || axis->place[k] >= axis->high) continue;
        s[count] = (fd_p_crowd(map, axis->place[k]) - map->start) / map->growth;
        double index = midway ? floor(s[count] * last) + 0.5 : floor(s[count] * last + 0.5);
        double least = midway ? 1.5 : 1;
        index = index < least ? least : index > last - least ? last - least : index;
        int twice = (int)(2 * index), apart = 2 + midway + (count > 0 && axis->align[which[count - 1]] == FD_MIDWAY);
        if (count > 0 && twice - map->twice[which[count - 1]] < apart) return FD_PLACES_SHARE;
        map->twice[k] = twice;
        v[count] = index / last;
        which[count++] = k;
    }
    /* Midway in x is not midway in the share. The difference is of third order in the spacing, and so is what remains
       after a correction. */
    double rounding = 1e-15 * fd_p_max(fabs(axis->low), fabs(axis->high));
    for (int round = 0; round < 60; round++) {
        int placed = 1;
        if (count > 0 && !(fd_p_bend(count, v, s, map->bend) > 0.25)) return FD_PLACE_SQUEEZED;
        for (int m = 0; m < count; m++) {
            int k = which[m];
            if (axis->align[k] != FD_MIDWAY) continue;
            double below = fd_p_map_at(map, (map->twice[k] / 2) / last);
            double above = fd_p_map_at(map, (map->twice[k] / 2 + 1) / last);
            double error = (below - map->place[k]) / 2 + (above - map->place[k]) / 2;
            map->half[k] = (above - below) / 2;
            s[m] -= error * fd_p_density(map, map->place[k]) / map->growth;
            if (!(fabs(error) <= 1e-10 * map->half[k] + rounding)) placed = 0;
        }
        if (placed) return FD_OK;
    }
    return FD_PLACE_SQUEEZED;
}

/* Returns point i of an axis, 0 <= i < points. Low, high and places on a node are exact to the bit; a place midway is
   exact to rounding.
   Needs    a map that fd_axis_map made with status 0
   Cost     one sinh; with two or three places that attract points, about ten Newton steps of that many asinh each */
TB_HD double fd_map_point(const fd_map *map, int i)
{
    if (i <= 0) return map->low;
    if (i >= map->points - 1) return map->high;
    for (int k = 0; k < map->places; k++) {
        if (map->twice[k] == 2 * i) return map->place[k];
        if (map->twice[k] == 2 * i + 1) return map->place[k] - map->half[k];
        if (map->twice[k] == 2 * i - 1) return map->place[k] + map->half[k];
    }
    return fd_p_map_at(map, i / (double)(map->points - 1));
}

/* Checks that coordinates form a grid: at least 4, finite, each above the one before.
   Returns  FD_OK, FD_BAD_ARGUMENT for a null pointer, FD_BAD_SIZE, or 1 + the first index that breaks the rule */
TB_HD int fd_grid_check(int points, const double *x)
{
    if (points < 4 || points > FD_P_MOST) return FD_BAD_SIZE;
    if (!x) return FD_BAD_ARGUMENT;
    for (int i = 0; i < points; i++)
        if (!trid_finite_f64(x[i]) || (i > 0 && !(x[i] > x[i - 1]))) return 1 + i;
    return FD_OK;
}

/* Computes all points of an axis.
   Needs    room for axis->points numbers in x
   Returns  as fd_axis_map; then as fd_grid_check, if points are so close that rounding makes two of them equal */
TB_HD int fd_axis_points(const fd_axis *axis, double *x)
{
    fd_map map;
    int status = x ? fd_axis_map(axis, &map) : FD_BAD_ARGUMENT;
    if (status) return status;
    for (int i = 0; i < map.points; i++) x[i] = fd_map_point(&map, i);
    return fd_grid_check(map.points, x);
}

/* ---- final values ------------------------------------------------------------------------------------------------ */

/* A function of one to three coordinates, written by the user; kernels need one compiled for the device. */
typedef double fd_function(const double *x, const void *context);

/* Returns the average over low .. high of a function of one variable that is smooth between given kinks and jumps.
   Needs    kinks in increasing order; those outside low .. high do not matter. The function is not called at kinks and
            ends
   Returns  the average; f(low) if high <= low
   Cost     4 calls for each piece
   Error    rounding, for pieces that are polynomials up to degree 7; else of the order of (high - low)^8 */
TB_HD double fd_average_told(double low, double high, int kinks, const double *kink, fd_function *f,
                             const void *context)
{
    /* Gauss-Legendre with four nodes. */
    const double node[2] = {0.33998104358485626, 0.86113631159405258};
    const double weight[2] = {0.65214515486254614, 0.34785484513745386};
    if (!(high > low)) return f(&low, context);
    double sum = 0, from = low;
    for (int k = 0; k <= kinks; k++) {
        double to = k < kinks && kink[k] < high ? kink[k] : high;
        if (!(to > from)) continue;
        double half = (to - from) / 2, middle = from + half, part = 0;
        for (int i = 0; i < 4; i++) {
            double x = i % 2 ? middle + half * node[i / 2] : middle - half * node[i / 2];
            part += weight[i / 2] * f(&x, context);
        }
        sum += half * part;
        from = to;
    }
    return sum / (high - low);
}

/* What fd_average passes from dimension to dimension. The function is not a member: if it were read from memory whose
   address the function itself receives, the compiler could not tell which function it is, and CUDA could not tell how
   much stack it needs. */
typedef struct {
    double low[3], high[3], x[3], tolerance;
    int levels, found;
} fd_p_box;

/* Averages over one dimension. A piece is accepted if Lobatto's rule with five nodes agrees with itself on the two
   halves; otherwise it is halved, up to `levels` times. A kink at certain places makes the two agree by accident, so
   the divided differences of the first nine and of the last nine of all 11 nodes must vanish too. The ends are nodes,
   so no jump lies beyond the last node. Pieces are visited from left to right; `index` counts those of size 2^-level.
   VALUE is the average over the dimensions below, or the function itself. */
#define FD_P_AVERAGE(NAME, AXIS, VALUE)                                                                                \
    TB_HD double NAME(fd_p_box *box, fd_function *f, const void *context)                                              \
    {                                                                                                                  \
        const double node[6] = {0, 0.086336582323005714, 0.17267316464601143, 0.25, 0.41366341767699429, 0.5};         \
        const double whole[6] = {0.05, 0, 0.27222222222222222, 0, 0, 0.35555555555555556};                             \
        const double halves[6] = {0.025, 0.13611111111111111, 0, 0.17777777777777778, 0.13611111111111111, 0.05};      \
        const double divided[11] = {0.0085883089970615351,                                                             \
                                    -0.059302012168251914,                                                             \
                                    0.16941753640236021,                                                               \
                                    -0.19164192100152574,                                                              \
                                    0.21744484316184184,                                                               \
                                    -0.23330271408851702,                                                              \
                                    0.10042939453333638,                                                               \
                                    -0.015753352741705352,                                                             \
                                    0.0041199169054000877,                                                             \
                                    0,                                                                                 \
                                    0};                                                                                \
        double low = box->low[AXIS], range = box->high[AXIS] - low, sum = 0, largest = 0;                              \
        long long index = 0;                                                                                           \
        int level = 0;                                                                                                 \
        box->x[AXIS] = low;                                                                                            \
        if (!(range > 0)) return VALUE;                                                                                \
        do {                                                                                                           \
            double size = 1 / (double)(1ll << level), one = 0, two = 0, first = 0, last = 0;                           \
            for (int i = 0; i < 11; i++) {                                                                             \
                int n = i < 6 ? i : 10 - i;                                                                            \
                box->x[AXIS] = low + range * size * ((double)index + (i < 6 ? node[n] : 1 - node[n]));                 \
                double value = VALUE;                                                                                  \
                one += whole[n] * value;                                                                               \
                two += halves[n] * value;                                                                              \
                first += divided[i] * value;                                                                           \
                last += divided[10 - i] * value;                                                                       \
                largest = fd_p_max(largest, fabs(value));                                                              \
            }                                                                                                          \
            double error = fd_p_max(fabs(two - one), fd_p_max(fabs(first), fabs(last)));                               \
            if (size * error > box->tolerance * largest) {                                                             \
                box->found = 1;                                                                                        \
                if (level < box->levels) {                                                                             \
                    level++;                                                                                           \
                    index *= 2;                                                                                        \
                    continue;                                                                                          \
                }                                                                                                      \
            }                                                                                                          \
            sum += size * two;                                                                                         \
            for (index++; level > 0 && index % 2 == 0; level--) index /= 2;                                            \
        } while (level > 0);                                                                                           \
        return sum;                                                                                                    \
    }
FD_P_AVERAGE(fd_p_average1, 0, f(box->x, context))
FD_P_AVERAGE(fd_p_average2, 1, fd_p_average1(box, f, context))
FD_P_AVERAGE(fd_p_average3, 2, fd_p_average2(box, f, context))
#undef FD_P_AVERAGE

/* Returns the average of a function over a box of one to three dimensions, and finds kinks and jumps wherever they run.
   Needs    dims 1 .. 3. A tolerance below 1e-13 counts as 1e-13; levels are limited to 0 .. 40. Where high <= low, the
            function is taken at low
   Leaves   in *found, unless null, whether a polynomial of degree 7 failed anywhere to follow the function to tolerance
   Returns  the average; NaN if dims is out of range
   Cost     11 calls in each dimension where the function is smooth. Along a dimension that meets a kink,
            11 log2(1/tolerance); twice as many for a jump. The numbers of all dimensions multiply: 1e-9 in one takes
            some hundreds of calls, 1e-6 in two some ten thousands; in three, 1e-3 with 4 levels is enough
   Error    a few times tolerance times the function's largest value in the box, or 2^-levels times a jump. Features
            between neighbouring nodes of the 11 go unseen, such as two jumps within a fourteenth of the box */
TB_HD double fd_average(int dims, const double *low, const double *high, fd_function *f, const void *context,
                        double tolerance, int levels, int *found)
{
    fd_p_box box;
    unsigned long long nan = 0x7ff8000000000000u;
    double value;
    for (int d = 0; d < 3; d++) box.low[d] = box.high[d] = box.x[d] = 0;
    for (int d = 0; d < 3 && d < dims; d++) box.low[d] = low[d], box.high[d] = high[d];
    box.tolerance = fd_p_max(tolerance, 1e-13), box.found = 0;
    box.levels = levels < 0 ? 0 : levels > 40 ? 40 : levels;
    memcpy(&value, &nan, sizeof value);
    if (dims == 1) value = fd_p_average1(&box, f, context);
    if (dims == 2) value = fd_p_average2(&box, f, context);
    if (dims == 3) value = fd_p_average3(&box, f, context);
    if (found) *found = box.found;
    return value;
}

/* Returns the final value at a grid point. If the function has a kink or a jump in the point's cell, half a spacing to
   each side, this is the average over the cell. Otherwise it is the value at the point: an average over an uneven cell
   would shift it by a quarter of the difference of the spacings times the slope. At the first and last point of an axis
   the cell has no extent along that axis.
   Needs    x[d] and points[d], and index[d] within them, d = 0 .. dims-1; else as fd_average
   Cost     as fd_average, and one call */
TB_HD double fd_final_value(int dims, const double *const *x, const int *points, const int *index, fd_function *f,
                            const void *context, double tolerance, int levels)
{
    double at[3] = {0, 0, 0}, low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
    for (int d = 0; d < 3 && d < dims; d++) {
        int i = index[d], inside = i > 0 && i < points[d] - 1;
        at[d] = x[d][i];
        low[d] = inside ? at[d] - (at[d] - x[d][i - 1]) / 2 : at[d];
        high[d] = inside ? at[d] + (x[d][i + 1] - at[d]) / 2 : at[d];
    }
    int found;
    double average = fd_average(dims, low, high, f, context, tolerance, levels, &found);
    return found ? average : f(at, context);
}

/* How the final values of a march are set. */
enum {
    FD_AT_POINTS,  /* the payoff at each point */
    FD_TOLD,       /* averaged along x over cells that contain one of the given kinks or jumps */
    FD_AVERAGED_X, /* averaged along x over cells with a kink or jump, which is searched for in each */
    FD_AVERAGED    /* the same over cells in all axes: thousands of calls for each cell with a kink or jump */
};

/* A function of up to three coordinates, seen as a function of the first. */
typedef struct {
    fd_function *f;
    const void *context;
    double other[2];
} fd_p_line;

TB_HD double fd_p_along(const double *x, const void *context)
{
    const fd_p_line *line = (const fd_p_line *)context;
    double at[3] = {x[0], line->other[0], line->other[1]};
    return line->f(at, line->context);
}

/* Returns the final value at a grid point, set in one of the ways above.
   Needs    for FD_TOLD, 0 or more kinks in increasing order; else as fd_final_value
   Cost     FD_TOLD four calls for each part of a cell with a kink; the last two as fd_average
   Error    FD_AVERAGED_X to 1e-9; FD_AVERAGED to 1e-7 with two factors and 1e-3 with three */
TB_HD double fd_final_as(int finals, int kinks, const double *kink, int dims, const double *const *x, const int *points,
                         const int *index, fd_function *f, const void *context)
{
    double at[3] = {0, 0, 0};
    for (int d = 0; d < 3 && d < dims; d++) at[d] = x[d][index[d]];
    fd_p_line line = {f, context, {at[1], at[2]}};
    if (finals == FD_AVERAGED)
        return fd_final_value(dims, x, points, index, f, context, dims > 2 ? 1e-3 : 1e-7, dims > 2 ? 4 : 30);
    if (finals == FD_AVERAGED_X) return fd_final_value(1, x, points, index, fd_p_along, &line, 1e-9, 40);
    const int i = index[0];
    if (finals == FD_TOLD && i > 0 && i < points[0] - 1) {
        double low = at[0] - (at[0] - x[0][i - 1]) / 2, high = at[0] + (x[0][i + 1] - at[0]) / 2;
        for (int k = 0; k < kinks; k++)
            if (kink[k] > low && kink[k] < high) return fd_average_told(low, high, kinks, kink, fd_p_along, &line);
    }
    return f(at, context);
}

/* ---- values at a point ------------------------------------------------------------------------------------------- */

/* A cubic through the grid points first .. first + 3. Its value at a place is the sum of value[i] u[first + i]; slope
   and curvature give the derivatives likewise. */
typedef struct {
    int first;
    double value[4], slope[4], curvature[4];
} fd_weights;

/* Computes the interpolation weights at a place. The cubic runs through the two points on each side of it, or at the
   ends of the grid through the last four points.
   Needs    a grid (fd_grid_check)
   Returns  FD_OK, FD_BAD_ARGUMENT, FD_BAD_SIZE, or FD_OUTSIDE: at is not in x[0] .. x[points-1], or NaN
   Cost     about 80 double operations, and log2(points) comparisons
   Error    for a smooth function: value h^4, slope h^3, curvature h^2; exact for cubics. On a node the value is the
            node's own, and the slope is of third order, from one point more on one side than on the other */
TB_HD int fd_interpolate(int points, const double *x, double at, fd_weights *weights)
{
    if (!x || !weights) return FD_BAD_ARGUMENT;
    if (points < 4 || points > FD_P_MOST) return FD_BAD_SIZE;
    if (!trid_finite_f64(at) || !(at >= x[0] && at <= x[points - 1])) return FD_OUTSIDE;
    int low = 0, high = points - 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (x[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    int first = low < 1 ? 0 : low > points - 3 ? points - 4 : low - 1;
    weights->first = first;
    for (int i = 0; i < 4; i++) {
        double other[3], scale = 1;
        for (int k = 0, n = 0; k < 4; k++) {
            if (k == i) continue;
            other[n++] = at - x[first + k];
            scale *= x[first + i] - x[first + k];
        }
        weights->value[i] = other[0] * other[1] * other[2] / scale;
        weights->slope[i] = (other[0] * other[1] + other[0] * other[2] + other[1] * other[2]) / scale;
        weights->curvature[i] = 2 * (other[0] + other[1] + other[2]) / scale;
    }
    return FD_OK;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* How time steps are spread between two dates. The march starts at the later date. Steps are all equal; or each exceeds
   the one before by the same factor, and the last is `ratio` times the first; or the times are spaced as squares. The
   last two suit a kink at the later date. */
enum { FD_EQUAL, FD_GEOMETRIC, FD_QUADRATIC };

/* The kind of a time step. FD_EXPLICIT is Douglas with theta 0: a march of such steps is stable only if they are
   short. */
enum { FD_THETA, FD_EXPLICIT, FD_BACKWARD_EULER };

/* The description of the time steps. */
typedef struct {
    double maturity; /* the march goes from here to 0 */
    int steps;       /* at least 1; more are taken if dates are so close that an interval gets less than one step */
    int grading;     /* FD_EQUAL, FD_GEOMETRIC, FD_QUADRATIC: after the final values and after dates with a kink */
    double ratio;    /* FD_GEOMETRIC: the last step before the next date or 0, over the first step */
    int kind;        /* FD_THETA, FD_EXPLICIT, FD_BACKWARD_EULER */
    double theta;    /* for FD_THETA, 0 .. 1; 0: the scheme's own (fd_scheme_theta), but 1/2 in fd_schedule itself */
    int halves;      /* Rannacher start: the number of backward Euler steps of half the size after the final values and
                           after each date with a kink, as far as the steps to the next date allow; 4 is usual */
    int dates;       /* the number of dates with an event: coupon, dividend, exercise, barrier observation */
    const double *date; /* increasing, 0 <= date < maturity; not read if dates is 0 */
    const int *kink;    /* for each date: does it leave a kink or a jump? Null: all do */
} fd_times;

/* A time step, from > to. Steps join to the bit: the first starts at maturity, each next one where the one before ends,
   and the last ends at 0. */
typedef struct {
    double from, to;
    double theta; /* 0 for FD_EXPLICIT, 1 for FD_BACKWARD_EULER */
    int kind;
    int date; /* the index of the date that equals `to` to the bit; -1: none */
} fd_step;

/* Returns the share of an interval that the first k of m graded steps cover, counted from the later end. */
TB_HD double fd_p_share(int grading, double ratio, int k, int m)
{
    double s = (double)k / m;
    if (grading == FD_QUADRATIC) return s * s;
    if (grading == FD_EQUAL || m < 2 || fabs(ratio - 1) < 1e-12) return s;
    double growth = log(ratio) / (m - 1);
    return expm1(growth * k) / expm1(growth * m);
}

/* Makes steps first .. first + room - 1 of a march from maturity to 0, or as many of them as exist, for callers who
   hold a few steps at a time.
   Needs    room for `room` steps in step; null: count only
   Leaves   in *count the number of all steps
   Returns  FD_OK, FD_BAD_ARGUMENT (null), FD_BAD_GRADING, FD_BAD_KIND, FD_BAD_STEPS, FD_BAD_SIZE (halves or dates
            negative or above 2^28; or neighbouring dates and steps so close that rounding makes them equal),
            FD_BAD_NUMBER (maturity or ratio not positive and finite), FD_BAD_THETA, or 1 + the index of the first date
            that is not finite, out of range or out of order
   Cost     a few double operations for each of all steps; if graded by a ratio, two exponentials each */
TB_HD int fd_schedule_part(const fd_times *times, int first, int room, fd_step *step, int *count)
{
    if (!times || !count) return FD_BAD_ARGUMENT;
    fd_times t = *times;
    if (t.grading != FD_EQUAL && t.grading != FD_GEOMETRIC && t.grading != FD_QUADRATIC) return FD_BAD_GRADING;
    if (t.kind != FD_EXPLICIT && t.kind != FD_BACKWARD_EULER && t.kind != FD_THETA) return FD_BAD_KIND;
    if (t.steps < 1 || t.steps > FD_P_MOST) return FD_BAD_STEPS;
    if (t.halves < 0 || t.halves > FD_P_MOST || t.dates < 0 || t.dates > FD_P_MOST) return FD_BAD_SIZE;
    if (!trid_finite_f64(t.maturity) || !(t.maturity > 0)) return FD_BAD_NUMBER;
    if (t.grading == FD_GEOMETRIC && !(trid_finite_f64(t.ratio) && t.ratio > 0)) return FD_BAD_NUMBER;
    if (t.kind == FD_THETA && !(trid_finite_f64(t.theta) && t.theta >= 0 && t.theta <= 1)) return FD_BAD_THETA;
    if (t.dates > 0 && !t.date) return FD_BAD_ARGUMENT;
    for (int i = 0; i < t.dates; i++) {
        double least = i > 0 ? t.date[i - 1] : 0;
        if (!trid_finite_f64(t.date[i]) || !(i > 0 ? t.date[i] > least : t.date[i] >= 0) || !(t.date[i] < t.maturity))
            return 1 + i;
    }
    double theta = t.kind == FD_EXPLICIT         ? 0
                   : t.kind == FD_BACKWARD_EULER ? 1
                   : t.theta > 0                 ? t.theta
                                                 : 0.5,
           upper = t.maturity, from = upper;
    long long total = 0, taken = 0;
    int kink = 1, date = t.dates - 1;
    while (upper > 0) {
        /* Steps from upper to the next date, or to 0. */
        double lower = date >= 0 ? t.date[date] : 0;
        long long due = (long long)floor(t.steps * ((t.maturity - lower) / t.maturity) + 0.5);
        int whole = due > taken ? (int)(due - taken) : 1;
        taken += whole;
        for (int k = 1; k <= whole; k++) {
            double share = fd_p_share(kink ? t.grading : FD_EQUAL, t.ratio, k, whole);
            double to = k == whole ? lower : upper - share * (upper - lower), start = from;
            int halved = kink ? t.halves - 2 * (k - 1) : 0, parts = halved > 0 ? 2 : 1; /* halved: how many are left */
            for (int part = 0; part < parts; part++, total++) {
                double end = part < parts - 1 ? start - (start - to) / 2 : to;
                int euler = halved > part;
                if (!(end < from)) return FD_BAD_SIZE;
                if (step && total >= first && total < first + (long long)room) {
                    fd_step made = {from, end, euler ? 1 : theta, euler ? FD_BACKWARD_EULER : t.kind,
                                    part == parts - 1 && k == whole ? date : -1};
                    step[total - first] = made;
                }
                from = end;
            }
        }
        kink = date >= 0 && (!t.kink || t.kink[date]);
        upper = lower;
        date--;
    }
    if (total > FD_P_MOST) return FD_BAD_SIZE;
    *count = (int)total;
    return FD_OK;
}

/* Makes all steps of a march.
   Needs    as fd_schedule_part
   Returns  as fd_schedule_part, or FD_NO_ROOM: *count says how much room is needed */
TB_HD int fd_schedule(const fd_times *times, int room, fd_step *step, int *count)
{
    int status = fd_schedule_part(times, 0, room, step, count);
    return status || !step || *count <= room ? status : FD_NO_ROOM;
}

/* ---- schemes ----------------------------------------------------------------------------------------------------- */

enum { FD_DOUGLAS, FD_CRAIG_SNEYD, FD_MODIFIED_CRAIG_SNEYD, FD_HUNDSDORFER_VERWER };

/* A stage of a scheme for u' = F(u), F = F_0 + F_1 + ... + F_d. F_0 holds the mixed derivatives, F_j those along axis j
   and whatever else is assigned to it. u is the value at the start of the step, dt > 0 the step, and z the result of
   the stage before, which has no weight in the first stage. The stage first forms the base
       y = u + dt (mixed[0] F_0(u) + own[0] (F_1 + ... + F_d)(u) + mixed[1] F_0(z) + own[1] (F_1 + ... + F_d)(z)).
   Then it solves along each axis j = 1 .. d in turn for y':
       y' - theta dt F_j(y') = y - theta dt F_j(about ? z : u).
   Each y' is the next axis's y; the last is the stage's result. F(u) is taken at the start of the step, F(z) and F(y')
   at its end.

   It is best to solve for the difference from w = about ? z : u. With F_j(v) = A_j v + sources and boundary terms,
       (1 - theta dt A_j) (y' - w) = y - w + theta dt (F_j(w) at the end of the step - F_j(w) as taken above).
   The last term is 0 if F_j is time-independent, or if about is 1. This form need not store any F_j. At a boundary
   whose value is given, the right-hand side is the new value less w. A coupling that the matrix omits (fd_lane_lag)
   acts on the old value instead of not at all. */
typedef struct {
    double mixed[2], own[2], theta;
    int about;
} fd_stage;

typedef struct {
    int stages; /* 1 or 2 */
    fd_stage stage[2];
} fd_scheme;

/* Describes a scheme by numbers. With theta 1, FD_DOUGLAS is the backward Euler step of a Rannacher start.
   Returns  FD_OK, FD_BAD_ARGUMENT (null), FD_BAD_SCHEME, or FD_BAD_THETA
   Error    in time: FD_DOUGLAS is of second order with theta 1/2 and no mixed terms, else first; FD_CRAIG_SNEYD of
            second with theta 1/2, else first; the other two of second with any theta */
TB_HD int fd_scheme_of(int which, double theta, fd_scheme *scheme)
{
    if (!scheme) return FD_BAD_ARGUMENT;
    if (which < FD_DOUGLAS || which > FD_HUNDSDORFER_VERWER) return FD_BAD_SCHEME;
    if (!trid_finite_f64(theta) || !(theta >= 0 && theta <= 1)) return FD_BAD_THETA;
    double again = which == FD_MODIFIED_CRAIG_SNEYD ? 0.5 - theta : which == FD_HUNDSDORFER_VERWER ? 0.5 : 0;
    fd_stage first = {{1, 0}, {1, 0}, 0, 0}, second = {{0.5, 0.5}, {0, 0}, 0, 0};
    first.theta = second.theta = theta;
    second.own[0] = 1 - again, second.own[1] = again;
    second.about = which == FD_HUNDSDORFER_VERWER;
    scheme->stages = which == FD_DOUGLAS ? 1 : 2;
    scheme->stage[0] = first, scheme->stage[1] = second;
    return FD_OK;
}

/* Returns the theta that makes a scheme stable for any step, diffusion and correlation (docs/fd.md), and as accurate as
   it can be: 1/2 for Douglas and Craig-Sneyd (2/3 for Douglas with three factors and mixed terms), 1/3 and 6/13 for
   Modified Craig-Sneyd with two and three factors, 1 - sqrt(1/2) and 3 - sqrt(27/4) for Hundsdorfer-Verwer, 1/2 for an
   unknown scheme. If drifts exceed diffusion, use fd_scheme_theta_drift. */
TB_HD double fd_scheme_theta(int which, int factors, int mixed)
{
    int three = factors > 2;
    return which == FD_DOUGLAS && three && mixed ? 2.0 / 3
           : which == FD_MODIFIED_CRAIG_SNEYD    ? (three ? 6.0 / 13 : 1.0 / 3)
           : which == FD_HUNDSDORFER_VERWER      ? (three ? 3 - 1.5 * 1.7320508075688772 : 0.29289321881345254)
                                                 : 0.5;
}

/* Finds the theta that makes a scheme stable where drifts exceed diffusion.
   Needs    courant: the largest |drift| dt / spacing along any axis, at any point and in any step; 0 for small drifts
   Leaves   *theta. With two factors this is fd_scheme_theta's, except 1/2 + sqrt(1/12) for Hundsdorfer-Verwer; all
            schemes are then stable for any courant. With three factors it is 2/3 for Douglas and Craig-Sneyd (of first
            order), 3/4 for Modified Craig-Sneyd and 1 for Hundsdorfer-Verwer; no wave then grows by more than 1.00025
            a step while courant is at most 1/2, or 3/10 for Modified Craig-Sneyd (docs/fd.md)
   Returns  FD_OK; FD_GREW: with three factors and a larger courant no theta keeps all waves from growing. Take more
            steps; upwinding (FD_UPWIND, FD_FITTED) and this theta slow the growth, and status.growth reports it.
            FD_BAD_ARGUMENT (null, an unknown scheme), or FD_BAD_NUMBER: courant is negative or NaN */
TB_HD int fd_scheme_theta_drift(int which, int factors, int mixed, double courant, double *theta)
{
    if (!theta || which < FD_DOUGLAS || which > FD_HUNDSDORFER_VERWER) return FD_BAD_ARGUMENT;
    if (!(courant >= 0)) return FD_BAD_NUMBER;
    *theta = fd_scheme_theta(which, factors, mixed);
    if (!(courant > 0)) return FD_OK;
    if (factors < 3) {
        if (which == FD_HUNDSDORFER_VERWER) *theta = 0.78867513459481288;
        return FD_OK;
    }
    *theta = which == FD_HUNDSDORFER_VERWER ? 1 : which == FD_MODIFIED_CRAIG_SNEYD ? 0.75 : 2.0 / 3;
    return courant <= (which == FD_MODIFIED_CRAIG_SNEYD ? 0.3 : 0.5) ? FD_OK : FD_GREW;
}

/* Returns the times of a march; a theta of 0 becomes the scheme's own. */
TB_HD fd_times fd_times_of(const fd_times *times, int scheme, int factors, int mixed)
{
    fd_times of = *times;
    if (of.kind == FD_THETA && of.theta >= 0 && of.theta <= 0) of.theta = fd_scheme_theta(scheme, factors, mixed);
    return of;
}

/* ---- a march ----------------------------------------------------------------------------------------------------- */

/* When the coefficients of a step are taken. Boundary values are always those of both its ends. */
enum {
    FD_BOTH_ENDS, /* as the scheme defines it: explicit parts at the step's start, implicit ones at its end */
    FD_MIDDLE,    /* all in its middle: also of second order, with half the work */
    FD_NEW_END    /* all at its end */
};

/* Early exercise: the value never falls below the final values. */
enum {
    FD_EUROPEAN,
    FD_AMERICAN, /* operator splitting of Ikonen and Toivanen: a multiplier carries what exercise added to a step */
    FD_PROJECTED /* the larger of value and final value after each step: of first order */
};

/* What happens at a date, in the order of the march. Calendar time runs the other way: the holder exercises, then a
   barrier is observed or a coupon paid, then a dividend lowers the price. With FD_AMERICAN and FD_PROJECTED the holder
   may exercise before and after all of this. So values are at least the final values before the shift, as after every
   step, and again after the change. Exercise can thus escape a dividend, and a barrier too: just before it is observed,
   a price beyond it is worth the payoff. If the right to exercise ends at the barrier, make the payoff 0 beyond it. To
   allow exercise only after the change, let the change itself take the larger value. */
enum {
    FD_SHIFT = 1,         /* the value at x becomes the one at x - cash - proportion x (or at the axis's end) */
    FD_CHANGE_VALUES = 2, /* applies the model's change to each value */
    FD_EXERCISE = 4,      /* the larger of value and final value: Bermudan exercise; the other two kinds include it */
    FD_RECORD = 8         /* records value and derivatives at the spot */
};

typedef struct {
    int what; /* any of them, added */
    double cash, proportion;
} fd_date;

/* Returns the place from which a shift takes the value at x. */
TB_HD double fd_shifted(const fd_date *date, double x, double low, double high)
{
    double from = x - date->cash - date->proportion * x;
    return from < low ? low : from > high ? high : from;
}

/* Returns the time at which the coefficients of a step's start (end 0) or end (end 1) are taken. */
TB_HD double fd_coefficient_time(int coefficients, const fd_step *step, int end)
{
    return coefficients == FD_MIDDLE           ? step->from - (step->from - step->to) / 2
           : coefficients == FD_NEW_END || end ? step->to
                                               : step->from;
}

/* A problem's choices for its march. */
typedef struct {
    const fd_times *times;
    const fd_date *at_date;
    int scheme, coefficients, finals, kinks;
    const double *kink;
    int exercise;
} fd_plan;

/* Checks a problem's choices for its march, as far as possible before the steps are made.
   Returns  what is FD_OK, FD_BAD_SCHEME, FD_BAD_THETA, FD_BAD_COEFFICIENTS, FD_BAD_FINALS, FD_BAD_EXERCISE,
            FD_BAD_KINKS (detail 1 + the kink, 0: their number) or FD_BAD_EVENT (detail 1 + the date) */
TB_HD fd_status fd_plan_check(const fd_plan *plan)
{
    fd_scheme scheme;
    int wrong = fd_scheme_of(plan->scheme, plan->times->theta, &scheme), detail = 0;
    if (!wrong && (plan->coefficients < FD_BOTH_ENDS || plan->coefficients > FD_NEW_END)) wrong = FD_BAD_COEFFICIENTS;
    if (!wrong && (plan->finals < FD_AT_POINTS || plan->finals > FD_AVERAGED)) wrong = FD_BAD_FINALS;
    if (!wrong && (plan->exercise < FD_EUROPEAN || plan->exercise > FD_PROJECTED)) wrong = FD_BAD_EXERCISE;
    if (!wrong && plan->finals == FD_TOLD && (plan->kinks < 0 || plan->kinks > 4)) wrong = FD_BAD_KINKS;
    for (int k = 0; k < plan->kinks && plan->finals == FD_TOLD && !wrong; k++)
        if (!trid_finite_f64(plan->kink[k]) || (k > 0 && !(plan->kink[k] > plan->kink[k - 1])))
            wrong = FD_BAD_KINKS, detail = 1 + k;
    for (int k = 0; k < plan->times->dates && plan->at_date && !wrong; k++) {
        const fd_date *date = &plan->at_date[k];
        if (!trid_finite_f64(date->cash) || !trid_finite_f64(date->proportion) || date->what < 0 || date->what > 15)
            wrong = FD_BAD_EVENT, detail = 1 + k;
    }
    return fd_status_of(wrong, detail, -1, -1, -1, -1, -1);
}

/* How short an explicit march's steps must be at a point, as 1 / dt: so that its fastest wave does not overshoot
   (couplings), and so that drifts do not make waves grow (drifts). */
typedef struct {
    double couplings, drifts;
} fd_p_rate;

/* Returns the longest explicit step; 0: there is none. */
TB_HD double fd_p_longest(int steps, const fd_step *step)
{
    double longest = 0;
    for (int k = 0; k < steps; k++)
        if (step[k].kind == FD_EXPLICIT) longest = fd_p_max(longest, step[k].from - step[k].to);
    return longest;
}

/* Returns a point's rate as an integer that is least for the fastest point; 0 if no explicit step is too long. */
TB_HD int fd_p_too_fast(double longest, fd_p_rate rate, double kill)
{
    double fastest = fd_p_max(rate.couplings + (kill > 0 ? kill / 2 : 0), rate.drifts);
    float rounded = (float)(fastest * (1 + 1e-6));
    int bits;
    memcpy(&bits, &rounded, sizeof bits);
    return longest * fastest > 1 ? -bits : 0;
}

/* Returns how many steps an explicit march needs, given its fastest point. That many are short enough where grading
   makes steps longest, and in each interval between dates, whose share of the steps is rounded. */
TB_HD int fd_p_enough(const fd_times *times, int too_fast)
{
    float fastest;
    const int bits = -too_fast, graded = times->grading == FD_GEOMETRIC && times->ratio > 0;
    memcpy(&fastest, &bits, sizeof fastest);
    double stretch = times->grading == FD_QUADRATIC ? 2 : graded ? fd_p_max(times->ratio, 1 / times->ratio) : 1;
    double rate = (double)fastest * stretch, needed = times->maturity * rate, most = 0;
    for (int k = 0; k <= times->dates && times->dates > 0; k++) {
        double from = k < times->dates ? times->date[k] : times->maturity, to = k > 0 ? times->date[k - 1] : 0;
        if ((from - to) * rate > 1) most = fd_p_max(most, times->maturity / (from - to));
    }
    needed = ceil(needed + most);
    return needed < (double)FD_P_MOST ? (int)needed : (int)FD_P_MOST;
}

/* Shared by the solvers: the least index at which something is wrong, sums, memory. */
enum {
    FD_P_NONE = 0x7fffffff, /* no index */
    FD_P_LANES = 32         /* the systems that the host interleaves; tables are padded to multiples of it */
};

TB_HD void fd_p_least(int *kept, int index)
{
#if defined __CUDA_ARCH__ || (defined SIMT_EMULATOR && !defined __CUDACC__)
    atomicMin(kept, index);
#else
    if (index < *kept) *kept = index;
#endif
}
TB_HD void fd_p_add(int *sum, int count)
{
#if defined __CUDA_ARCH__ || (defined SIMT_EMULATOR && !defined __CUDACC__)
    atomicAdd(sum, count);
#else
    *sum += count;
#endif
}

/* A magnitude is stored as the bits of a float: nonnegative floats are ordered as their bits are. */
TB_HD int fd_p_larger(int kept, double value)
{
    const float size = (float)fabs(value);
    int bits;
    memcpy(&bits, &size, sizeof bits);
    return bits > kept ? bits : kept;
}
TB_HD void fd_p_most(int *kept, int bits)
{
#if defined __CUDA_ARCH__ || (defined SIMT_EMULATOR && !defined __CUDACC__)
    atomicMax(kept, bits);
#else
    if (bits > *kept) *kept = bits;
#endif
}

/* Returns by how much a change raises the magnitude of a value; a knock-out adds nothing. */
TB_HD double fd_p_added(double before, double after)
{
    return fd_p_max(fabs(after) - fabs(before), 0);
}

/* Sets the growth of a march that ended: the largest magnitude that it has over the largest that it was given. */
TB_HD void fd_p_grown(fd_status *status, int given, int largest)
{
    float before, after;
    memcpy(&before, &given, sizeof before), memcpy(&after, &largest, sizeof after);
    status->growth = before > 0 ? after / before : 0;
    if (status->growth > (float)FD_MOST_GROWTH) status->what = FD_GREW;
}

TB_HD size_t fd_p_round(size_t bytes)
{
    return (bytes + 127) / 128 * 128;
}

/* Returns the address at an offset; null while memory is null, that is while bytes are only counted. */
TB_HD void *fd_p_at(unsigned char *memory, size_t offset)
{
    return memory ? memory + offset : 0;
}

/* Returns the length of an axis's tables: its points, padded. */
TB_HD int fd_p_padded(int points)
{
    return (points + FD_P_LANES - 1) / FD_P_LANES * FD_P_LANES;
}

/* The solvers check a model's declarations before the march, at all points, in the first and in the last step. If a
   model writes or reads more numbers than it declares, it finds room for this many more: */
enum { FD_P_ROOM = 8 };

/* The declarations that are false at a point, as a sum. */
enum {
    FD_P_FEW = 1,         /* << axis, or << 3 for time: the terms read more numbers than are declared */
    FD_P_MIXED = 16,      /* << pair (0: of the first and second axis, 1: first and third, 2: second and third) */
    FD_P_CHANGES = 128,   /* terms change in time */
    FD_P_NOT_ALONE = 256, /* << axis: its terms depend on another axis */
    FD_P_ILL_POSED = 2048
};

/* Returns the first false declaration as a status, with its axis, or 1 << pair in detail. */
TB_HD fd_status fd_p_untrue(int untrue, int i, int j, int k, int step)
{
    const int first = untrue & -untrue;
    if (!untrue) return fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    if (first < FD_P_MIXED) return fd_status_of(FD_TOO_FEW_NUMBERS, 0, first == 8 ? -1 : first / 2, i, j, k, step);
    if (first < FD_P_CHANGES) return fd_status_of(FD_MIXED_UNDECLARED, first / FD_P_MIXED, -1, i, j, k, step);
    if (first < FD_P_NOT_ALONE) return fd_status_of(FD_CHANGES_UNDECLARED, 0, -1, i, j, k, step);
    if (first < FD_P_ILL_POSED) return fd_status_of(FD_NOT_ALONE, 0, first / FD_P_NOT_ALONE / 2, i, j, k, step);
    return fd_status_of(FD_ILL_POSED, 0, -1, i, j, k, step);
}

/* Fills what a model is to write with NaN: the `count` numbers that it declares, and the room after them. */
TB_HD void fd_p_blank(int count, double *number)
{
    const unsigned long long nan = 0x7ff8000000000000u;
    for (int q = 0; q < count + FD_P_ROOM; q++) memcpy(&number[q], &nan, sizeof nan);
}

/* Returns whether the model has written more than it declares. */
TB_HD int fd_p_written_beyond(int count, const double *number)
{
    int beyond = 0;
    for (int q = count; q < count + FD_P_ROOM; q++) beyond |= trid_finite_f64(number[q]);
    return beyond;
}

#define FD_P_RESTRICT __restrict__
/* The same for rows that a loop writes now and reads in its next iteration. If clang (14; not 22) inlines the function
   into that loop, it takes the promise to hold across all iterations. For clang, FD_P_APART before the inner loop makes
   the promise instead. */
#ifdef __clang__
#define FD_P_RESTRICT_ROW
#define FD_P_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define FD_P_RESTRICT_ROW __restrict__
#define FD_P_APART
#endif
/* A function whose loops the compiler should vectorise inlines all that it calls, the model's functions too. */
#define FD_P_INLINE static inline __attribute__((always_inline, unused))
#define FD_P_FLAT static __attribute__((flatten, noinline, unused))

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Boundary conditions: what holds at a face, the first or last point of a line. */
enum {
    FD_LINEAR, /* the second normal derivative is zero */
    FD_VALUE,  /* the value is given; the cell has no coupling, and the caller writes 1 on the matrix's diagonal and the
                      value on the right-hand side */
    FD_SLOPE,  /* the derivative along the line is given, upwards at both faces; fd_lane_source adds it */
    FD_DEGENERATE, /* the PDE itself, whose diffusion (and mixed terms) vanish there: second-order one-sided drift;
                      fd_lane_face_three eliminates the third point from the matrix */
    FD_P_FACES
};

/* Aligns a struct so that single precision reads it as one vector of 16 bytes. */
#if defined __CUDACC__ || defined __CUDACC_RTC__
#define FD_P_ALIGN __align__(16)
#elif defined __GNUC__
#define FD_P_ALIGN __attribute__((aligned(16)))
#else
#define FD_P_ALIGN
#endif

/* How the drift of an inner point is discretised. */
enum {
    FD_CENTRAL, /* second order; couplings may be negative where |drift| spacing > 2 diffusion */
    FD_UPWIND,  /* there, as much more diffusion as makes them zero: first order where that happens */
    FD_FITTED   /* exponentially: exact where drift u' + diffusion u'' = 0 between the neighbours; first order there */
};

/* ---- the body, read once for each precision ---------------------------------------------------------------------- */

#ifndef __cplusplus
#define fd_cell TB_OF(fd_cell)
#define fd_row TB_OF(fd_row)
#define fd_pace TB_OF(fd_pace)
#define fd_cell_at TB_OF(fd_cell_at)
#define fd_cells TB_OF(fd_cells)
#define fd_lane_first TB_OF(fd_lane_first)
#define fd_lane_second TB_OF(fd_lane_second)
#define fd_lane_mixed TB_OF(fd_lane_mixed)
#define fd_p_expm1 TB_OF(fd_p_expm1)
#define fd_p_phi TB_OF(fd_p_phi)
#define fd_p_psi TB_OF(fd_p_psi)
#define fd_p_fitted TB_OF(fd_p_fitted)
#define fd_lane_row TB_OF(fd_lane_row)
#define fd_lane_apply TB_OF(fd_lane_apply)
#define fd_p_rate_add TB_OF(fd_p_rate_add)
#define fd_lane_source TB_OF(fd_lane_source)
#define fd_lane_matrix TB_OF(fd_lane_matrix)
#define fd_pace_of TB_OF(fd_pace_of)
#define fd_p_same TB_OF(fd_p_same)
#define fd_p_differ TB_OF(fd_p_differ)
#define fd_p_ill_posed TB_OF(fd_p_ill_posed)
#define fd_p_ill_correlated TB_OF(fd_p_ill_correlated)
#define fd_p_nan TB_OF(fd_p_nan)
#define fd_lane_exercise TB_OF(fd_lane_exercise)
#define fd_lane_at_date TB_OF(fd_lane_at_date)
#define fd_lane_lag TB_OF(fd_lane_lag)
#define fd_lane_matrix_at TB_OF(fd_lane_matrix_at)
#define fd_lane_face_three TB_OF(fd_lane_face_three)
#define fd_lane_value TB_OF(fd_lane_value)
#else
#define fd_cell_f32 tb_f32::fd_cell
#define fd_cell_f64 tb_f64::fd_cell
#define fd_row_f32 tb_f32::fd_row
#define fd_row_f64 tb_f64::fd_row
#define fd_pace_f32 tb_f32::fd_pace
#define fd_pace_f64 tb_f64::fd_pace
#define fd_cell_at_f32 tb_f32::fd_cell_at
#define fd_cell_at_f64 tb_f64::fd_cell_at
#define fd_cells_f32 tb_f32::fd_cells
#define fd_cells_f64 tb_f64::fd_cells
#define fd_lane_first_f32 tb_f32::fd_lane_first
#define fd_lane_first_f64 tb_f64::fd_lane_first
#define fd_lane_second_f32 tb_f32::fd_lane_second
#define fd_lane_second_f64 tb_f64::fd_lane_second
#define fd_lane_mixed_f32 tb_f32::fd_lane_mixed
#define fd_lane_mixed_f64 tb_f64::fd_lane_mixed
#define fd_lane_row_f32 tb_f32::fd_lane_row
#define fd_lane_row_f64 tb_f64::fd_lane_row
#define fd_lane_apply_f32 tb_f32::fd_lane_apply
#define fd_lane_apply_f64 tb_f64::fd_lane_apply
#define fd_p_rate_add_f32 tb_f32::fd_p_rate_add
#define fd_p_rate_add_f64 tb_f64::fd_p_rate_add
#define fd_lane_source_f32 tb_f32::fd_lane_source
#define fd_lane_source_f64 tb_f64::fd_lane_source
#define fd_lane_matrix_f32 tb_f32::fd_lane_matrix
#define fd_lane_matrix_f64 tb_f64::fd_lane_matrix
#define fd_pace_of_f32 tb_f32::fd_pace_of
#define fd_pace_of_f64 tb_f64::fd_pace_of
#define fd_p_same_f32 tb_f32::fd_p_same
#define fd_p_same_f64 tb_f64::fd_p_same
#define fd_p_differ_f32 tb_f32::fd_p_differ
#define fd_p_differ_f64 tb_f64::fd_p_differ
#define fd_p_ill_posed_f32 tb_f32::fd_p_ill_posed
#define fd_p_ill_posed_f64 tb_f64::fd_p_ill_posed
#define fd_p_ill_correlated_f32 tb_f32::fd_p_ill_correlated
#define fd_p_ill_correlated_f64 tb_f64::fd_p_ill_correlated
#define fd_p_nan_f32 tb_f32::fd_p_nan
#define fd_p_nan_f64 tb_f64::fd_p_nan
#define fd_lane_exercise_f32 tb_f32::fd_lane_exercise
#define fd_lane_exercise_f64 tb_f64::fd_lane_exercise
#define fd_lane_at_date_f32 tb_f32::fd_lane_at_date
#define fd_lane_at_date_f64 tb_f64::fd_lane_at_date
#define fd_lane_lag_f32 tb_f32::fd_lane_lag
#define fd_lane_lag_f64 tb_f64::fd_lane_lag
#define fd_lane_matrix_at_f32 tb_f32::fd_lane_matrix_at
#define fd_lane_matrix_at_f64 tb_f64::fd_lane_matrix_at
#define fd_lane_face_three_f32 tb_f32::fd_lane_face_three
#define fd_lane_face_three_f64 tb_f64::fd_lane_face_three
#define fd_lane_value_f32 tb_f32::fd_lane_value
#define fd_lane_value_f64 tb_f64::fd_lane_value
#endif

#define FD_P_BODY
#define TB_BODY "../pde/fd.h"
#include "../trid/twice.h"
#undef TB_BODY
#undef FD_P_BODY

#endif /* FD_H */
#else  /* FD_P_BODY: C over tb_real */

/* A point of a line, with spacings l below and u above: 1/l, 1/u, h = 2 / (l + u), w = l / (l + u). At a face the
   boundary condition sets them. 16 bytes in single precision, so that a thread reads a cell at once. */
typedef struct FD_P_ALIGN {
    tb_real below, above, h, w;
} fd_cell;

/* A row of A without kill: below (u[j-1] - u[j]) + above (u[j+1] - u[j]). */
typedef struct {
    tb_real below, above;
} fd_row;

/* Computes cell j of a line, for threads that take one each.
   Needs    a grid (fd_grid_check), 0 <= j < points, known kinds of faces; far_of as for fd_cells: each of the two end
            cells writes its own entry
   Returns  FD_OK, or 1 + j if its numbers are not finite in this precision: points are too close
   Cost     4 divisions */
TB_HD int fd_cell_at(int points, const double *x, const int *face, int j, fd_cell *cell, tb_real *far_of)
{
    int first = j == 0, last = j == points - 1, at_face = first || last, kind = face[last];
    double l = first ? 0 : x[j] - x[j - 1], u = last ? 0 : x[j + 1] - x[j];
    double below = first ? 0 : 1 / l, above = last ? 0 : 1 / u;
    double h = 2 / (l + u), w = l / (l + u), third = 0; /* w: 0 at the first point, 1 at the last */
    if (at_face && kind != FD_SLOPE) h = 0;
    if (at_face && kind == FD_LINEAR) w = 1 - w;
    if (at_face && kind == FD_DEGENERATE) {
        double near_by = l + u, beyond = first ? x[2] - x[1] : x[j - 1] - x[j - 2];
        double share = near_by / (near_by + beyond);
        w = first ? 1 + share : -share;
        third = (first ? -1 : 1) * share / beyond;
    }
    if (at_face) far_of[last] = (tb_real)third;
    cell->below = (tb_real)below, cell->above = (tb_real)above, cell->h = (tb_real)h, cell->w = (tb_real)w;
    return trid_finite_f64((double)(cell->below + cell->above) + (double)cell->h) ? FD_OK : 1 + j;
}

/* Computes the cells of a line, faces included.
   Needs    x of `points` coordinates, room for as many cells; face[0] for the first point, face[1] for the last
   Leaves   cell; far_of[0], far_of[1]: at a face that is FD_DEGENERATE, A u has the term drift far_of (u2 - u1) besides
            its row, where u1 is the face's neighbour and u2 the next point; 0 at others
   Returns  FD_OK; as fd_grid_check; FD_BAD_ARGUMENT for a null pointer; FD_BAD_FACE; or as fd_cell_at
   Cost     4 divisions a point */
TB_HD int fd_cells(int points, const double *x, const int *face, fd_cell *cell, tb_real *far_of)
{
    int status = fd_grid_check(points, x);
    if (status) return status;
    if (!face || !cell || !far_of) return FD_BAD_ARGUMENT;
    for (int side = 0; side < 2; side++)
        if (face[side] < 0 || face[side] >= FD_P_FACES) return FD_BAD_FACE;
    for (int j = 0; j < points && !status; j++) status = fd_cell_at(points, x, face, j, &cell[j], far_of);
    return status;
}

/* Returns the first derivative at a point, from the values below, at and above it.
   Needs    any finite number for a missing value (below the first point, above the last)
   Cost     2 subtractions, 1 multiplication, 2 FMA
   Error    of second order on smooth grids, exact for quadratics; at a face that is FD_LINEAR exact for straight lines.
            Not for other faces: the result there is 0, and at FD_DEGENERATE it lacks far_of's part */
TB_HD tb_real fd_lane_first(fd_cell cell, tb_real below, tb_real here, tb_real above)
{
    tb_real p = (above - here) * cell.above, m = (here - below) * cell.below;
    return m + cell.w * (p - m);
}

/* Returns the second derivative, likewise.
   Cost     2 subtractions, 2 multiplications, 1 FMA
   Error    exact for quadratics; of second order on smooth grids, first on others. Rounding adds two unit roundoffs of
            the slope times h to the error of the values. At faces the result is 0, except
            at FD_SLOPE: there it is the part that does not depend on the given slope */
TB_HD tb_real fd_lane_second(fd_cell cell, tb_real below, tb_real here, tb_real above)
{
    tb_real p = (above - here) * cell.above, m = (here - below) * cell.below;
    return cell.h * (p - m);
}

/* Returns the mixed derivative at a point of two lines, from nine values u[i + 3 k]: i along the line of x, k of y.
   Cost     4 of fd_lane_first
   Error    exact for products of quadratics; of second order on smooth grids. At faces as fd_lane_first */
TB_HD tb_real fd_lane_mixed(fd_cell x, fd_cell y, const tb_real *u)
{
    return fd_lane_first(y, fd_lane_first(x, u[0], u[1], u[2]), fd_lane_first(x, u[3], u[4], u[5]),
                         fd_lane_first(x, u[6], u[7], u[8]));
}

/* e^z - 1 */
TB_HD tb_real fd_p_expm1(tb_real z)
{
#if TB_BYTES == 4
    return expm1f(z);
#else
    return expm1(z);
#endif
}

/* (e^z - 1) / z, and (e^z - 1 - z) / z^2, for |z| <= 40 or z negative. */
TB_HD tb_real fd_p_phi(tb_real z)
{
    return z > (tb_real)1e-30 || z < (tb_real)-1e-30 ? fd_p_expm1(z) / z : 1;
}

TB_HD tb_real fd_p_psi(tb_real z)
{
    if (z > (tb_real)0.5 || z < (tb_real)-0.5) return (fd_p_expm1(z) - z) / z / z;
    tb_real sum = 1;
    for (int k = 15; k > 2; k--) sum = 1 + z / (tb_real)k * sum;
    return sum / 2;
}

/* Returns flow = h diffusion' + w drift, with the diffusion' that makes the row exact for the exponential. With
   z = drift / diffusion this is  diffusion phi(z l) / (l psi(z l) + u psi(-z u)),  in which nothing cancels. It is
   drift or 0 where the exponential is negligible. */
TB_HD tb_real fd_p_fitted(fd_cell cell, tb_real drift, tb_real diffusion)
{
    if (drift > 40 * diffusion * cell.below) return drift;
    if (-drift > 40 * diffusion * cell.above || !(diffusion > 0))
        return diffusion > 0 || drift < 0 ? 0 : diffusion + drift;
    tb_real l = drift / (diffusion * cell.below), u = -drift / (diffusion * cell.above);
    return diffusion * fd_p_phi(l) / (fd_p_psi(l) / cell.below + fd_p_psi(u) / cell.above);
}

/* Returns the row of A at a point, from the PDE's drift and diffusion there.
   Needs    diffusion >= 0; fitting FD_CENTRAL, FD_UPWIND or FD_FITTED, a literal where speed matters. Faces are never
            fitted: their drift should point inwards; otherwise see fd_lane_lag
   Returns  the row. It is exact for straight lines: above / (cell.above) - below / (cell.below) = drift. With FD_UPWIND
            and FD_FITTED no coupling of an inner point is negative, for any drift and diffusion
   Cost     1 FMA, 3 multiplications, 1 subtraction; FD_UPWIND two selections more; FD_FITTED three exponentials, ten
            divisions and some 40 operations more, so it pays to tabulate rows that do not change
   Error    of second order; FD_UPWIND and FD_FITTED of first where |drift| spacing > 2 diffusion. NaN in, NaN out */
TB_HD fd_row fd_lane_row(fd_cell cell, int fitting, tb_real drift, tb_real diffusion)
{
    tb_real flow = cell.h * diffusion + cell.w * drift;
    if (fitting != FD_CENTRAL && cell.below > 0 && cell.above > 0) {
        if (fitting == FD_FITTED) flow = fd_p_fitted(cell, drift, diffusion);
        if (flow < drift) flow = drift;
        if (flow < 0) flow = 0;
    }
    fd_row row;
    row.above = cell.above * flow;
    row.below = cell.below * (flow - drift);
    return row;
}

/* Returns A u at a point, from the values below, at and above it, without kill, given slopes and third points.
   Needs    as fd_lane_first
   Cost     2 subtractions, 1 multiplication, 1 FMA */
TB_HD tb_real fd_lane_apply(fd_row row, tb_real below, tb_real here, tb_real above)
{
    return row.below * (below - here) + row.above * (above - here);
}

/* Adds an axis's row to a point's rate. In each step, waves along the axis turn by at most (above - below) dt, which
   makes them grow unless couplings of the right sign damp them. Growth by a factor of e until time 0 is allowed:
   undamped is half of maturity times the number of factors. Mixed terms may undo the damping by couplings. */
TB_HD void fd_p_rate_add(fd_row row, int at_face, int mixed, double undamped, fd_p_rate *rate)
{
    double below = (double)row.below, above = (double)row.above, turn = above - below, damped = fabs(below + above);
    rate->couplings += fabs(below) + fabs(above);
    if (at_face) return;
    rate->drifts += turn * turn * (mixed || damped * undamped <= 1 ? undamped : 1 / damped);
}

/* Returns what the given slope of a face that is FD_SLOPE adds to A u there.
   Needs    the face's cell
   Cost     2 multiplications, 2 FMA */
TB_HD tb_real fd_lane_source(fd_cell cell, tb_real drift, tb_real diffusion, tb_real slope)
{
    return (drift + (2 * cell.w - 1) * cell.h * diffusion) * slope;
}

/* Computes a row of 1 - size A, where A includes kill; size is theta dt of an implicit step.
   Leaves   a, b, c as the tridiagonal solvers read them
   Returns  whether the row is diagonally dominant, b > |a| + |c|. It is if no coupling is negative and
            1 + size kill > 0
   Cost     2 multiplications, 2 additions, 1 FMA, and the comparison if it is used */
TB_HD int fd_lane_matrix(fd_row row, tb_real size, tb_real kill, tb_real *a, tb_real *b, tb_real *c)
{
    *a = -size * row.below;
    *c = -size * row.above;
    *b = 1 + size * (row.below + row.above + kill);
    return *b > (*a < 0 ? -*a : *a) + (*c < 0 ? -*c : *c);
}

/* Step data: a time step as numbers. */
typedef struct {
    tb_real dt, size; /* size: theta dt */
    tb_real
        base[2][4]; /* of each stage: what F_0(u), (F_1 + F_2 + ..)(u), F_0(z), (F_1 + F_2 + ..)(z) are multiplied by */
    int stages, about;
    int still; /* the coefficients at its start are those at its end; whoever takes them sets this */
    int date;  /* the index of the date at its end, or -1 */
} fd_pace;

/* Computes the step data of a time step for a scheme. Steps of a kind other than FD_THETA use Douglas.
   Leaves   *pace, with still 0
   Returns  as fd_scheme_of */
TB_HD int fd_pace_of(int which, const fd_step *step, fd_pace *pace)
{
    double dt = step->from - step->to;
    fd_scheme scheme;
    int wrong = fd_scheme_of(step->kind == FD_THETA ? which : FD_DOUGLAS, step->theta, &scheme);
    if (wrong) return wrong;
    pace->dt = (tb_real)dt, pace->size = (tb_real)(scheme.stage[0].theta * dt);
    pace->stages = scheme.stages, pace->about = scheme.stage[1].about, pace->still = 0, pace->date = step->date;
    for (int s = 0; s < 2; s++) {
        pace->base[s][0] = (tb_real)(dt * scheme.stage[s].mixed[0]);
        pace->base[s][1] = (tb_real)(dt * scheme.stage[s].own[0]);
        pace->base[s][2] = (tb_real)(dt * scheme.stage[s].mixed[1]);
        pace->base[s][3] = (tb_real)(dt * scheme.stage[s].own[1]);
    }
    return FD_OK;
}

/* Returns whether `count` numbers are the same. */
TB_HD int fd_p_same(int count, const tb_real *one, const tb_real *other)
{
    for (int q = 0; q < count; q++)
        if (one[q] < other[q] || one[q] > other[q]) return 0;
    return 1;
}

/* Returns whether two numbers differ by more than the rounding of one expression computed in two ways. */
TB_HD int fd_p_differ(tb_real one, tb_real other)
{
    const tb_real share = sizeof(tb_real) == 4 ? (tb_real)4e-6 : (tb_real)1e-9;
    const tb_real apart = one > other ? one - other : other - one;
    return apart > share * ((one < 0 ? -one : one) + (other < 0 ? -other : other));
}

/* Returns whether two factors are ill-posed: a diffusion is negative, or mixed^2 > 4 diffusion[0] diffusion[1] by more
   than 256 roundoffs and underflow explain. */
TB_HD int fd_p_ill_posed(const tb_real *diffusion, tb_real mixed)
{
    const double slack = sizeof(tb_real) == 4 ? 1.5e-5 : 2.8e-14, least = sizeof(tb_real) == 4 ? 1.2e-38 : 2.3e-308;
    const double bound = 4 * (1 + slack) * ((double)diffusion[0] + least) * ((double)diffusion[1] + least);
    return (diffusion[0] < 0) | (diffusion[1] < 0) | ((double)mixed * (double)mixed > bound);
}

/* Returns whether three factors with correlations 12, 13 and 23 are ill-posed: one correlation is beyond 1, or their
   matrix is not positive semidefinite, by more than the same. */
TB_HD int fd_p_ill_correlated(const tb_real *rho)
{
    const tb_real slack = sizeof(tb_real) == 4 ? (tb_real)1.5e-5 : (tb_real)2.8e-14, p = rho[0], q = rho[1], r = rho[2];
    const tb_real determinant = 1 - p * p - q * q - r * r + 2 * p * q * r;
    return (p * p > 1 + slack) | (q * q > 1 + slack) | (r * r > 1 + slack) | (determinant < -slack);
}

/* Returns NaN, the result of a problem that has none. */
TB_HD tb_real fd_p_nan(void)
{
    unsigned long long bits = 0x7ff8000000000000u;
    double nan;
    memcpy(&nan, &bits, sizeof nan);
    return (tb_real)nan;
}

/* Returns a value after a time step, with early exercise.
   Needs    kind FD_AMERICAN or FD_PROJECTED; for FD_AMERICAN, in *extra the multiplier of the step before; the
            step's right-hand side included dt times it
   Leaves   for FD_AMERICAN, the new multiplier in *extra
   Cost     FD_AMERICAN 1 division, 2 FMA, 1 subtraction, 2 comparisons */
TB_HD tb_real fd_lane_exercise(int kind, tb_real dt, tb_real final, tb_real value, tb_real *extra)
{
    if (kind == FD_AMERICAN) {
        tb_real more = *extra + (final - value) / dt;
        value -= dt * *extra;
        *extra = more > 0 ? more : 0;
    }
    return final > value ? final : value;
}

/* Returns a value after the shift and the change of a date, with early exercise just before them.
   Needs    what happens at the date (fd_date); kind FD_EUROPEAN, FD_AMERICAN or FD_PROJECTED; for FD_AMERICAN, in
            *extra the multiplier of the step to the date
   Leaves   for FD_AMERICAN, the next step's multiplier in *extra. In the exercise region it depends on the final values
            alone, so it stays where they hold after the date too, and is 0 elsewhere
   Cost     2 comparisons */
TB_HD tb_real fd_lane_at_date(int what, int kind, tb_real final, tb_real value, tb_real *extra)
{
    if (kind == FD_EUROPEAN && !(what & FD_EXERCISE)) return value;
    if (kind == FD_AMERICAN && value > final) *extra = 0;
    return final > value ? final : value;
}

/* Returns the row without its negative couplings. Use it in the matrix alone, where fd_lane_matrix reports a row that
   is not diagonally dominant, above all at faces whose drift points outwards.
   Needs    a solve for the difference y' - w (fd_stage): the omitted couplings then act on w
   Cost     2 selections
   Error    theta dt times the omitted couplings times y' - w: of first order in time after all steps */
TB_HD fd_row fd_lane_lag(fd_row row)
{
    if (row.below < 0) row.below = 0;
    if (row.above < 0) row.above = 0;
    return row;
}

/* Computes a row of 1 - size A as fd_lane_matrix does; at a face it omits couplings that would prevent dominance.
   Returns  whether the row was dominant with all couplings */
TB_HD int fd_lane_matrix_at(fd_row row, int at_face, tb_real size, tb_real kill, tb_real *a, tb_real *b, tb_real *c)
{
    int dominant = fd_lane_matrix(row, size, kill, a, b, c);
    if (at_face && !dominant) fd_lane_matrix(fd_lane_lag(row), size, kill, a, b, c);
    return dominant;
}

/* Eliminates the third unknown from the matrix row of a face that is FD_DEGENERATE, by the neighbour's row.
   Needs    third = size drift far_of; *b and *near_by of the face's row as fd_lane_matrix left them (near_by: c at the
            first point, a at the last); of the neighbour's row: toward the face (a, or c), its b, and away (c, or a)
   Leaves   *b and *near_by of the new row
   Returns  m: subtract m times the neighbour's right-hand side from the face's. If the row would not be dominant,
            nothing changes and m is 0: the matrix then lacks the third point, with the needs and the error of
            fd_lane_lag
   Cost     1 division, 3 FMA, 1 addition */
TB_HD tb_real fd_lane_face_three(tb_real third, tb_real *b, tb_real *near_by, tb_real toward, tb_real middle,
                                 tb_real away)
{
    /* The face's row is b u0 + (near + third) u1 - third u2. */
    tb_real m = away < 0 || away > 0 ? -third / away : 0;
    tb_real diagonal = *b - m * toward, next = *near_by + third - m * middle;
    if (!(m <= 0 && diagonal > (next < 0 ? -next : next))) return 0;
    if (m < 0) *b = diagonal, *near_by = next;
    return m;
}

/* Returns a value or a derivative at a place, as the grid's values times the tensor product of each axis's weights.
   Needs    dims 1 .. 3; weight[d] of four (value, slope or curvature of fd_weights), stride[d] the elements between
            neighbours along axis d, u the grid's first element plus the sum of first[d] * stride[d]
   Cost     4^dims FMA in double precision */
TB_HD double fd_lane_value(int dims, const double *const *weight, const tb_real *u, const long long *stride)
{
    double sum = 0;
    for (int k = 0; k < (dims > 2 ? 4 : 1); k++)
        for (int j = 0; j < (dims > 1 ? 4 : 1); j++) {
            const tb_real *line = u + (dims > 2 ? k * stride[2] : 0) + (dims > 1 ? j * stride[1] : 0);
            double part = 0;
            for (int i = 0; i < 4; i++) part += weight[0][i] * (double)line[i * stride[0]];
            sum += (dims > 2 ? weight[2][k] : 1) * (dims > 1 ? weight[1][j] : 1) * part;
        }
    return sum;
}

#endif /* FD_P_BODY */
