/* adi3d.h - three-factor PDEs of your own on a grid, marched by alternating directions, on a GPU and on CPUs.

   MIT licence, see LICENSE. Copy this file, fd.h, trid.h and transpose.h.

   The equation is, with V_2 the derivative of V along y and so on,
       V_t + drift_1 V_1 + drift_2 V_2 + drift_3 V_3 + volatility_1^2 V_11 + volatility_2^2 V_22 + volatility_3^2 V_33
           + beta_1 volatility_2 volatility_3 V_23 + beta_2 volatility_3 volatility_1 V_31
           + beta_3 volatility_1 volatility_2 V_12 = kill V,
   marched backwards from the final values by the ADI schemes of fd.h. (The squares have no half: a price of volatility
   s has volatility s x / sqrt(2), and beta twice the correlation.) What stands in it is the user's: a model is one C
   file that includes this header twice, before and after its functions (MODEL stands for its name):

       #include "adi3d.h"
       typedef struct { .. } MODEL_parameters;
       enum {
           MODEL_numbers_of_x, MODEL_numbers_of_y, MODEL_numbers_of_z, MODEL_numbers_of_t,   how many the next four give
           MODEL_mixed,                      which beta are not 0: the sum of 1, 2 and 4; no time is spent on the others
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
       #include "adi3d.h"

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

   A model has, in both precisions (_f32 and _f64):
       MODEL_host_bytes         memory that the host's workers need together
       MODEL_host_worker        one worker's part, for threads of any kind that can wait for each other
       MODEL_host               all of it: by workers that are OpenMP's threads where the program is compiled with it
       MODEL_device_bytes       device memory that the next needs
       MODEL_device             the same on a GPU (nvcc; tests/simt.h without one)
       MODEL_bytes, MODEL_solve that of the two which the compiler has, the GPU's before the host's
   and all models share
       adi3d_check              what is wrong with a problem, as far as its own numbers tell
       adi3d_allocate, _free    memory for MODEL_solve
       fd_status_string         what a status says

   What they share:
     Status   fd_status: FD_OK or what is wrong and where; what the functions return is its `what`. A problem that is
              refused or fails has NaN in its results.
     Matrices Not pivoted. Rows of a face that would not be dominant leave couplings of the wrong sign to the old values
              (fd_lane_lag). Inner rows that are not, where a drift beats its diffusion and is taken centrally, are
              solved as they are: status.weak counts them.
     Grid     Point (i, j, k) is at i + nx (j + ny k).
     Memory   The caller's. Nothing is allocated, printed or kept. All pointers of a problem are the host's.

   Options, defined before the header is included:
     ADI3D_HEADER   the name by which this file includes itself, if you rename it. Default: "adi3d.h". */

#ifndef ADI3D_P_REAL
#ifndef ADI3D_H
#define ADI3D_H

#include "fd.h"
#include "transpose.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#if TRID_HOST_SCOPE
#include <stdlib.h>
#endif

#define ADI3D_VERSION 100 /* 100 * major + minor */

#ifndef ADI3D_HEADER
#define ADI3D_HEADER "adi3d.h"
#endif

#define ADI3D_HD TRID_HD
#define ADI3D_P_JOIN2(a, b) a##_##b
#define ADI3D_P_JOIN(a, b) ADI3D_P_JOIN2(a, b)
#define ADI3D_P_JOIN3(a, b, c) a##_##b##c
#define ADI3D_P_JOIN_OF(a, b, c) ADI3D_P_JOIN3(a, b, c)

/* What the equation has at a point. */
typedef struct {
    float drift[3], volatility[3], beta[3], kill;
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

enum { ADI3D_MOST = 1024 }; /* points of an axis */

enum { ADI3D_P_LANES = 64 }; /* the host's lines side by side */

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
    fd_times times; /* its theta is the scheme's (fd_scheme_theta); kinds other than FD_THETA are steps of Douglas'
                                scheme with theta 0 and 1 */
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
    double value, dx, dy, dz, dxx, dyy, dzz, dyz, dzx, dxy;
} adi3d_values;

/* Where the results go: pointers into host memory. */
typedef struct {
    fd_status status;
    adi3d_values *values; /* of 1 + times.dates: at time 0, and at dates with FD_RECORD; the others stay as they were */
    void *grid;           /* null; or a number of the precision for each point: the values at time 0 */
} adi3d_result;

/* Solves   is this a problem, as far as it can be told before points and steps are made?
   Returns  FD_OK; FD_BAD_ARGUMENT (null, an unknown kind, of an axis or of detail - 1, a date); FD_BAD_SIZE (fewer than
            4 or more than ADI3D_MOST points, more than 4 kinks); FD_BAD_NUMBER as fd_plan_check; or FD_BAD_TIMES,
            detail fd_schedule's status */
TRID_HD fd_status adi3d_check(const adi3d_problem *problem)
{
    if (!problem) return fd_status_of(FD_BAD_ARGUMENT, 0, -1, -1, -1, -1, -1);
    for (int d = 0; d < 3; d++) {
        if (problem->axis[d].points < 4 || problem->axis[d].points > ADI3D_MOST)
            return fd_status_of(FD_BAD_SIZE, 0, d, -1, -1, -1, -1);
        for (int side = 0; side < 2; side++)
            if (problem->face[d][side] < 0 || problem->face[d][side] >= FD_P_FACES)
                return fd_status_of(FD_BAD_ARGUMENT, 0, d, -1, -1, -1, -1);
    }
    const fd_plan plan = {&problem->times, problem->at_date, problem->scheme, problem->coefficients,
                          problem->finals, problem->kinks,   problem->kink,   problem->exercise};
    int steps, wrong = fd_schedule_part(&problem->times, 0, 0, NULL, &steps);
    if (wrong) return fd_status_of(FD_BAD_TIMES, wrong, -1, -1, -1, -1, -1);
    return fd_plan_check(&plan);
}

/* Points of the grid. */
TRID_HD size_t adi3d_p_points(const adi3d_problem *problem)
{
    return (size_t)problem->axis[0].points * (size_t)problem->axis[1].points * (size_t)problem->axis[2].points;
}

/* Numbers of an axis in its tables: those of all lines side by side. */
TRID_HD int adi3d_p_padded(int points)
{
    return (points + ADI3D_P_LANES - 1) / ADI3D_P_LANES * ADI3D_P_LANES;
}

/* Rounded up, of the longest axis, and no less than the host's lines side by side. */
TRID_HD int adi3d_p_longest(const adi3d_problem *problem)
{
    int longest = 0;
    for (int d = 0; d < 3; d++)
        if (problem->axis[d].points > longest) longest = problem->axis[d].points;
    return adi3d_p_padded(longest);
}

/* Does anything given at a face change from the start of a step to its end, as a slope may? */
TRID_HD int adi3d_p_slopes(const adi3d_problem *problem)
{
    int slopes = 0;
    for (int f = 0; f < 6; f++) slopes |= problem->face[f / 2][f % 2] == FD_SLOPE;
    return slopes;
}

/* Is point i of an axis on a face whose value is given? */
TRID_HD int adi3d_p_given(const adi3d_problem *problem, int axis, int i)
{
    const int last = i == problem->axis[axis].points - 1;
    return (i == 0 || last) && problem->face[axis][last] == FD_VALUE;
}

/* What happens at a date; null: nothing. */
TRID_HD const fd_date *adi3d_p_event(const adi3d_problem *problem, int date)
{
    return date >= 0 && problem->at_date && problem->at_date[date].what ? &problem->at_date[date] : NULL;
}

/* Is the array of the final values needed after the march has begun? */
TRID_HD int adi3d_p_finals(const adi3d_problem *problem)
{
    int needed = problem->exercise != FD_EUROPEAN;
    for (int date = 0; date < problem->times.dates && problem->at_date; date++)
        needed |= problem->at_date[date].what & FD_EXERCISE;
    return needed;
}

#if TRID_HOST_SCOPE
#ifdef _OPENMP
/* OpenMP's threads wait for each other. */
TRID_HOST void adi3d_p_barrier(void *context)
{
    (void)context;
#pragma omp barrier
}
#endif

/* Solves   memory for MODEL_solve: the GPU's, where the program is compiled for one
   Returns  a pointer for adi3d_free, or null */
TRID_HOST void *adi3d_allocate(size_t bytes)
{
#if TRID_LAUNCHES
    void *memory = NULL;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : NULL;
#else
    return malloc(bytes);
#endif
}
/* Solves   its release */
TRID_HOST void adi3d_free(void *memory)
{
#if TRID_LAUNCHES
    cudaFree(memory);
#else
    free(memory);
#endif
}

/* The threads that OpenMP would take. */
TRID_HOST int adi3d_p_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}
#endif

#if TRID_LAUNCHES
/* An attribute of the current device; 0 if it does not say. */
TRID_HOST int adi3d_p_attribute(enum cudaDeviceAttr attribute)
{
    int device, value;
    return cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess
               ? value
               : 0;
}

/* Into how many sections a march of so many planes is cut, where `blocks` blocks march side by side and `slots` run at
   the same time, if a section takes as much as `more` planes more than it has: what takes the least time. */
TRID_HOST int adi3d_p_sections(int planes, int blocks, int slots, int more)
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
TRID_HD double ADI3D_M(p_face)(const ADI3D_M(parameters) * parameters, int axis, int side, const double *at, double t)
{
#ifdef ADI3D_FACE
    return ADI3D_M(face)(parameters, axis, side, at, t);
#else
    (void)parameters, (void)axis, (void)side, (void)at, (void)t;
    return 0;
#endif
}

TRID_HD double ADI3D_M(p_change)(const ADI3D_M(parameters) * parameters, int date, const double *at, double value)
{
#ifdef ADI3D_CHANGE
    return ADI3D_M(change)(parameters, date, at, value);
#else
    (void)parameters, (void)date, (void)at;
    return value;
#endif
}

/* How many numbers a point of an axis has; axis 3 is time. */
TRID_HD int ADI3D_M(p_numbers)(int axis)
{
    return axis == 0   ? (int)ADI3D_M(numbers_of_x)
           : axis == 1 ? (int)ADI3D_M(numbers_of_y)
           : axis == 2 ? (int)ADI3D_M(numbers_of_z)
                       : (int)ADI3D_M(numbers_of_t);
}

/* They are, in double precision. */
TRID_HD void ADI3D_M(p_numbers_at)(const ADI3D_M(parameters) * parameters, int axis, double at, double *number)
{
    if (axis == 0) ADI3D_M(of_x)(parameters, at, number);
    if (axis == 1) ADI3D_M(of_y)(parameters, at, number);
    if (axis == 2) ADI3D_M(of_z)(parameters, at, number);
    if (axis == 3) ADI3D_M(of_t)(parameters, at, number);
}

enum {
    ADI3D_M(p_most) = 1 + (int)ADI3D_M(numbers_of_x) + (int)ADI3D_M(numbers_of_y) + (int)ADI3D_M(numbers_of_z) +
                      (int)ADI3D_M(numbers_of_t) /* of any axis or of time, and one */
};

#define ADI3D_P_REAL float
#define ADI3D_P_SUFFIX _f32
#define ADI3D_P_VECTOR float4 /* 16 bytes */
#define ADI3D_P_LINES_LEN TRID_BLOCK_LINES_LEN_F32
/* Lines along y and z of up to 128, 256, 512 and 1024 points: points a thread, sections, lines of a block, blocks. */
#define ADI3D_P_SHAPE_128 4, 32, 8, 3
#define ADI3D_P_SHAPE_256 8, 32, 8, 3
#define ADI3D_P_SHAPE_512 16, 32, 8, 1
#define ADI3D_P_SHAPE_1024 32, 32, 8, 1
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
#define ADI3D_P_LINES_LEN TRID_BLOCK_LINES_LEN_F64
#define ADI3D_P_SHAPE_128 4, 32, 8, 3
#define ADI3D_P_SHAPE_256 8, 32, 8, 2
#define ADI3D_P_SHAPE_512 16, 32, 8, 1
#define ADI3D_P_SHAPE_1024 32, 32, 4, 1
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
#pragma pop_macro("K")
#pragma pop_macro("KIND")
#pragma pop_macro("L")
#pragma pop_macro("MORE")
#pragma pop_macro("MOST")
#pragma pop_macro("NUMBERS")
#pragma pop_macro("OF_ROW")
#pragma pop_macro("P")
#pragma pop_macro("PASSES")
#pragma pop_macro("PLANE")
#pragma pop_macro("Q")
#pragma pop_macro("ROWS")
#pragma pop_macro("S")
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
#undef ADI3D_CHANGE

#else /* the body, of a model in the precision at hand */

#define ADI3D_R ADI3D_P_REAL
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
TRID_HD size_t ADI3D_F(p_axis_lay_out)(int axis, int points, unsigned char *memory, ADI3D_F(p_tables) * tables)
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
TRID_HD size_t ADI3D_F(p_axis_bytes)(int axis, int points)
{
    return ADI3D_F(p_axis_lay_out)(axis, points, NULL, NULL);
}

/* Fills the tables of an axis, which have been laid out. Returns what is FD_OK, FD_BAD_AXIS, FD_BAD_SPOT or
   FD_MODEL_NAN, of the axis. */
TRID_HD fd_status ADI3D_F(p_axis)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters, int axis,
                                  ADI3D_F(p_tables) * t)
{
    const int n = t->n[axis], padded = t->padded[axis];
    double *x = t->x[axis], number[ADI3D_M(p_most)];
    int wrong = problem->points[axis] ? FD_OK : fd_axis_points(&problem->axis[axis], x);
    for (int i = 0; i < n && problem->points[axis]; i++) x[i] = problem->points[axis][i];
    if (!wrong) wrong = ADI3D_G(fd_cells)(n, x, problem->face[axis], t->cell[axis], t->far_of[axis]);
    if (wrong) return fd_status_of(FD_BAD_AXIS, wrong, axis, -1, -1, -1, -1);
    if (fd_interpolate(n, x, problem->spot[axis], &t->at[axis]))
        return fd_status_of(FD_BAD_SPOT, 0, axis, -1, -1, -1, -1);
    for (int i = 0; i < padded; i++) {
        const int last = i < n ? i : n - 1;
        ADI3D_M(p_numbers_at)(parameters, axis, x[last], number);
        for (int q = 0; q < ADI3D_M(p_numbers)(axis); q++) {
            t->number[axis][q * padded + i] = (ADI3D_R)number[q];
            if (!ADI3D_G(trid_finite)((ADI3D_R)number[q]))
                return fd_status_of(FD_MODEL_NAN, 0, axis, axis == 0 ? last : -1, axis == 1 ? last : -1,
                                    axis == 2 ? last : -1, -1);
        }
    }
    return fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
}

/* Makes step k ready. Returns what is FD_OK, or FD_MODEL_NAN in step k. */
TRID_HD fd_status ADI3D_F(p_step_of)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
                                     const fd_step *step, int k, ADI3D_F(p_step) * s)
{
    double number[ADI3D_M(p_most)];
    ADI3D_G(fd_pace_of)(problem->scheme, step, &s->pace);
    s->from = step->from, s->to = step->to;
    for (int end = 0; end < 2; end++) {
        ADI3D_M(p_numbers_at)(parameters, 3, fd_coefficient_time(problem->coefficients, step, end), number);
        s->time[end][ADI3D_M(numbers_of_t)] = 0;
        for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) {
            s->time[end][q] = (ADI3D_R)number[q];
            if (!ADI3D_G(trid_finite)(s->time[end][q])) return fd_status_of(FD_MODEL_NAN, 0, -1, -1, -1, -1, k);
        }
    }
    s->pace.still = ADI3D_M(changes) == 0 || ADI3D_G(fd_p_same)(ADI3D_M(p_numbers)(3), &s->time[0][0], &s->time[1][0]);
    s->changes = !s->pace.still || adi3d_p_slopes(problem);
    return fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
}

/* The final value at point (i, j, k). */
TRID_HD double ADI3D_F(p_final)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
                                const ADI3D_F(p_tables) * t, int i, int j, int k)
{
    const double *x[3] = {t->x[0], t->x[1], t->x[2]};
    const int index[3] = {i, j, k};
    return fd_final_as(problem->finals, problem->kinks, problem->kink, 3, x, t->n, index, ADI3D_M(payoff), parameters);
}

/* The numbers of point i of an axis, from its table. */
TRID_HD void ADI3D_F(p_take)(const ADI3D_F(p_tables) * t, int axis, int i, ADI3D_R *number)
{
    TRID_UNROLL
    for (int q = 0; q < ADI3D_M(p_numbers)(axis); q++) number[q] = t->number[axis][q * t->padded[axis] + i];
}

/* The terms from the numbers of a point and a time. */
TRID_HD ADI3D_G(adi3d_terms) ADI3D_F(p_terms)(const ADI3D_R *x, const ADI3D_R *y, const ADI3D_R *z, const ADI3D_R *time)
{
    ADI3D_G(adi3d_terms) terms = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0};
    ADI3D_F(terms)(x, y, z, time, &terms);
    return terms;
}

/* The same at point (i, j, k), by the tables: where speed does not matter. */
TRID_HD ADI3D_G(adi3d_terms) ADI3D_F(p_terms_at)(const ADI3D_F(p_tables) * t, int i, int j, int k, const ADI3D_R *time)
{
    ADI3D_R x[ADI3D_M(p_most)], y[ADI3D_M(p_most)], z[ADI3D_M(p_most)];
    ADI3D_F(p_take)(t, 0, i, x), ADI3D_F(p_take)(t, 1, j, y), ADI3D_F(p_take)(t, 2, k, z);
    return ADI3D_F(p_terms)(x, y, z, time);
}

/* Are they finite? */
TRID_HD int ADI3D_F(p_finite)(ADI3D_G(adi3d_terms) terms)
{
    /* Shares: a sum of finite numbers must be finite. */
    double sum = (double)terms.kill / 16;
    for (int d = 0; d < 3; d++)
        sum += (double)terms.drift[d] / 16 + (double)terms.volatility[d] / 16 + (double)terms.beta[d] / 16;
    return trid_finite_f64(sum);
}

/* The row of A along an axis, without kill. */
TRID_HD ADI3D_G(fd_row) ADI3D_F(p_row)(int axis, ADI3D_G(fd_cell) cell, ADI3D_G(adi3d_terms) terms)
{
    return ADI3D_G(fd_lane_row)(cell, ADI3D_M(fitting), terms.drift[axis],
                                terms.volatility[axis] * terms.volatility[axis]);
}

/* The row of 1 - size A along an axis, which has a third of the kill; of a face without the couplings that would keep
   it from being dominant. Returns whether it was, without that. */
TRID_HD int ADI3D_F(p_matrix)(int axis, int at_face, ADI3D_G(fd_cell) cell, ADI3D_G(adi3d_terms) terms, ADI3D_R size,
                              ADI3D_R *a, ADI3D_R *b, ADI3D_R *c)
{
    return ADI3D_G(fd_lane_matrix_at)(ADI3D_F(p_row)(axis, cell, terms), at_face, size, terms.kill / 3, a, b, c);
}

/* A u along an axis from the three values there, with its third of the kill: without what its faces add. */
TRID_HD ADI3D_R ADI3D_F(p_along)(int axis, ADI3D_G(fd_cell) cell, ADI3D_G(adi3d_terms) terms, ADI3D_R low, ADI3D_R here,
                                 ADI3D_R high)
{
    return ADI3D_G(fd_lane_apply)(ADI3D_F(p_row)(axis, cell, terms), low, here, high) - terms.kill / 3 * here;
}

/* The first derivative (fd_lane_first) with what multiplies the two differences: they are made once a cell. */
TRID_HD ADI3D_R ADI3D_F(p_first)(ADI3D_R down, ADI3D_R up, ADI3D_R low, ADI3D_R here, ADI3D_R high)
{
    return down * (here - low) + up * (high - here);
}

/* mixed F_0 + own (F_1 + F_2 + F_3) at a point, from its cells, its terms and the values around it, (i, j, k) of
   -1 .. 1 at v[13 + i + 3 j + 9 k]; the eight corners are not read. Without what faces add. 19 points; some 50
   operations for the mixed terms and 25 for the others. */
TRID_HD ADI3D_R ADI3D_F(p_apply)(const ADI3D_G(fd_cell) * cell, const ADI3D_G(adi3d_terms) * terms, ADI3D_R mixed,
                                 ADI3D_R own, const ADI3D_R *v)
{
    const ADI3D_R *s = terms->volatility;
    const ADI3D_G(fd_row) x = ADI3D_F(p_row)(0, cell[0], *terms), y = ADI3D_F(p_row)(1, cell[1], *terms);
    const ADI3D_G(fd_row) z = ADI3D_F(p_row)(2, cell[2], *terms);
    ADI3D_R sum =
        own * (ADI3D_G(fd_lane_apply)(x, v[12], v[13], v[14]) + ADI3D_G(fd_lane_apply)(y, v[10], v[13], v[16]) +
               ADI3D_G(fd_lane_apply)(z, v[4], v[13], v[22]) - terms->kill * v[13]);
    if (ADI3D_M(mixed) != 0) {
        ADI3D_R down[3], up[3], cross = 0;
        TRID_UNROLL
        for (int d = 0; d < 3; d++) down[d] = cell[d].below * (1 - cell[d].w), up[d] = cell[d].above * cell[d].w;
        /* Slopes along x and y in the middle of each plane and row, and how they change. */
        if ((int)ADI3D_M(mixed) & 1) {
            ADI3D_R low = ADI3D_F(p_first)(down[1], up[1], v[1], v[4], v[7]);
            ADI3D_R here = ADI3D_F(p_first)(down[1], up[1], v[10], v[13], v[16]);
            ADI3D_R high = ADI3D_F(p_first)(down[1], up[1], v[19], v[22], v[25]);
            cross += terms->beta[0] * s[1] * s[2] * ADI3D_F(p_first)(down[2], up[2], low, here, high);
        }
        ADI3D_R here = ADI3D_F(p_first)(down[0], up[0], v[12], v[13], v[14]);
        if ((int)ADI3D_M(mixed) & 2) {
            ADI3D_R low = ADI3D_F(p_first)(down[0], up[0], v[3], v[4], v[5]);
            ADI3D_R high = ADI3D_F(p_first)(down[0], up[0], v[21], v[22], v[23]);
            cross += terms->beta[1] * s[2] * s[0] * ADI3D_F(p_first)(down[2], up[2], low, here, high);
        }
        if ((int)ADI3D_M(mixed) & 4) {
            ADI3D_R low = ADI3D_F(p_first)(down[0], up[0], v[9], v[10], v[11]);
            ADI3D_R high = ADI3D_F(p_first)(down[0], up[0], v[15], v[16], v[17]);
            cross += terms->beta[2] * s[0] * s[1] * ADI3D_F(p_first)(down[1], up[1], low, here, high);
        }
        sum += mixed * cross;
    }
    return sum;
}

/* Do the faces of an axis add to F? */
TRID_HD int ADI3D_F(p_adds)(const adi3d_problem *problem, int axis, int side)
{
    const int kind = problem->face[axis][side];
    return kind == FD_SLOPE || kind == FD_DEGENERATE;
}

/* What a face adds to F along its axis at point (i, j, k) of it: a slope that is given at time t, or its third point,
   from the values next to the face and one further in; `time` are the numbers of the coefficients' time. */
TRID_HD ADI3D_R ADI3D_F(p_at_face)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
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
TRID_HD void ADI3D_F(p_face_row)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
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
TRID_HD int ADI3D_F(p_weak_along)(int axis, ADI3D_G(fd_cell) cell, ADI3D_G(adi3d_terms) terms, ADI3D_R size)
{
    ADI3D_R a, b, c;
    const int dominant = ADI3D_F(p_matrix)(axis, 0, cell, terms, size, &a, &b, &c);
    return !dominant & !((a <= 0) & (c <= 0) & (1 + size * terms.kill / 3 > 0));
}

/* How many of the three rows of a point are not dominant in a step. At a face whose value is given the cell makes no
   couplings, so that none is found there. */
TRID_HD int ADI3D_F(p_weak)(const ADI3D_F(p_tables) * t, int i, int j, int k, const ADI3D_F(p_step) * step)
{
    const int index[3] = {i, j, k};
    const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms_at)(t, i, j, k, step->time[1]);
    int weak = 0;
    for (int d = 0; d < 3; d++) weak += ADI3D_F(p_weak_along)(d, t->cell[d][index[d]], terms, step->pace.size);
    return weak;
}

/* Value and derivatives at the spot, from the 4 x 4 x 4 values around it, those along x side by side, then those along
   y: the first is at (at[0].first, at[1].first, at[2].first). */
TRID_HD adi3d_values ADI3D_F(p_values)(const fd_weights *at, const ADI3D_R *around)
{
    /* Which derivative along each axis. */
    const int order[10][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0},
                              {0, 2, 0}, {0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
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

/* NaN wherever results would be, for a problem that has none; but for the grid, if it has no size that one can have. */
TRID_HD void ADI3D_F(p_no_results)(const adi3d_problem *problem, const adi3d_result *result)
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
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

/* A worker has a share of the planes in the sweep along x and y, of the rows of all planes in the one along z, and
   waits for the others in between. Lines are solved ADI3D_P_LANES at a time, side by side, which the compiler makes
   vectors of: along x from a tile that has been turned, along y and z from where they lie. A plane's right-hand side,
   its lines along x and those along y follow each other while it is in the cache. */
#if TRID_HOST_SCOPE

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
    int *slot;                             /* of each worker: a point, or a count */
    size_t pitch, plane, wide;             /* wide: elements between the first tile's rows */
    ADI3D_R *spread[4];                    /* the cells along x, number by number */
    ADI3D_R *u, *z, *d;                    /* values, a first stage's, differences */
    ADI3D_R *final, *extra;                /* final values, exercise's multiplier; null where there is none */
    ADI3D_R *zeros;                        /* of so many lines as are solved at once */
    ADI3D_R *rows, *turned, *tile, *upper; /* of the worker: right-hand sides, turned; solutions and their matrices */
} ADI3D_F(p_host);

TRID_HOST size_t ADI3D_F(p_host_lay_out)(const adi3d_problem *problem, int worker, int workers, unsigned char *memory,
                                         ADI3D_F(p_host) * host)
{
    const int *const n[3] = {&problem->axis[0].points, &problem->axis[1].points, &problem->axis[2].points};
    const size_t line = 128 / sizeof(ADI3D_R), longest = (size_t)adi3d_p_longest(problem);
    /* An odd number of cache lines between planes: neighbours along z do not share a set of a cache. */
    const size_t pitch = ((size_t)*n[0] + line - 1) / line * line, plane = pitch * (size_t)*n[1] + line / 2;
    const size_t grid = fd_p_round((plane * (size_t)*n[2] + 2 * line) * sizeof(ADI3D_R));
    /* Nor do the tiles, or the rows of the first, share sets with each other. */
    const size_t wide = pitch + line / 2, tile = fd_p_round((longest + 16) * ADI3D_P_LANES * sizeof(ADI3D_R)) + 5 * 64;
    ADI3D_F(p_host) h;
    size_t used = 0;
    memset(&h, 0, sizeof h);
    h.problem = problem, h.worker = worker, h.workers = workers, h.pitch = pitch, h.plane = plane, h.wide = wide;
    h.shared = (ADI3D_F(p_shared) *)(memory + used), used += fd_p_round(sizeof(ADI3D_F(p_shared)));
    h.slot = (int *)(memory + used), used += fd_p_round((size_t)workers * sizeof(int));
    for (int d = 0; d < 3; d++) used += ADI3D_F(p_axis_lay_out)(d, *n[d], memory ? memory + used : NULL, &h.t);
    for (int q = 0; q < 4; q++) h.spread[q] = (ADI3D_R *)(memory + used), used += fd_p_round(pitch * sizeof(ADI3D_R));
    h.zeros = (ADI3D_R *)(memory + used), used += fd_p_round(ADI3D_P_LANES * sizeof(ADI3D_R));
    ADI3D_R **grids[5] = {&h.u, &h.d, &h.z, &h.final, &h.extra};
    const int needed[5] = {1, 1, problem->scheme != FD_DOUGLAS, adi3d_p_finals(problem),
                           problem->exercise == FD_AMERICAN};
    for (int g = 0; g < 5; g++) {
        if (!needed[g]) continue;
        *grids[g] = (ADI3D_R *)(memory + used) + line, used += grid;
    }
    ADI3D_R **tiles[4] = {&h.rows, &h.turned, &h.tile, &h.upper};
    used += 4 * tile * (size_t)worker;
    for (int g = 0; g < 4; g++) *tiles[g] = (ADI3D_R *)(memory + used), used += tile;
    used += 4 * tile * (size_t)(workers - 1 - worker);
    if (host) *host = h;
    return used;
}

/* All workers wait for each other. */
TRID_HOST void ADI3D_F(p_meet)(const ADI3D_F(p_host) * h)
{
    if (h->workers > 1) h->meet(h->context);
}

/* The least of what the workers found, or the sum of what they counted. */
TRID_HOST int ADI3D_F(p_together)(const ADI3D_F(p_host) * h, int mine, int sums)
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
TRID_HOST int ADI3D_F(p_share)(const ADI3D_F(p_host) * h, int count, int worker)
{
    return (int)((long long)count * worker / h->workers);
}

/* Point number `at` of the grid as a status has it. */
TRID_HOST fd_status ADI3D_F(p_lost)(const ADI3D_F(p_host) * h, int what, int at, int step)
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

/* Row (j, k) of a grid, which at the faces stands for the one beyond, too. */
TRID_HOST const ADI3D_R *ADI3D_F(p_host_row)(const ADI3D_F(p_host) * h, const ADI3D_R *v, int j, int k)
{
    const int *n = h->t.n;
    j = j < 0 ? 0 : j < n[1] ? j : n[1] - 1;
    k = k < 0 ? 0 : k < n[2] ? k : n[2] - 1;
    return v + (size_t)k * h->plane + (size_t)j * h->pitch;
}

/* So many numbers will be wanted soon. */
TRID_HOST void ADI3D_F(p_host_fetch)(int count, const ADI3D_R *from)
{
    const int line = 64 / (int)sizeof(ADI3D_R);
    for (int i = 0; i < count; i += line) __builtin_prefetch(from + i);
}

/* out = (more ? out : 0) + mixed F_0(v) + own (F_1 + F_2 + F_3)(v) along row (j, k), without what the faces add. */
FD_P_INLINE void ADI3D_F(p_host_apply_to)(const ADI3D_F(p_host) * h, int more, const ADI3D_R *v, int j, int k,
                                          const ADI3D_R *time, ADI3D_R mixed, ADI3D_R own, ADI3D_R *FD_P_RESTRICT out)
{
    const ADI3D_R *FD_P_RESTRICT r0 = ADI3D_F(p_host_row)(h, v, j - 1, k - 1), *FD_P_RESTRICT r1, *FD_P_RESTRICT r2;
    const ADI3D_R *FD_P_RESTRICT r3 = ADI3D_F(p_host_row)(h, v, j - 1, k), *FD_P_RESTRICT r4, *FD_P_RESTRICT r5;
    const ADI3D_R *FD_P_RESTRICT r6 = ADI3D_F(p_host_row)(h, v, j - 1, k + 1), *FD_P_RESTRICT r7, *FD_P_RESTRICT r8;
    r1 = ADI3D_F(p_host_row)(h, v, j, k - 1), r2 = ADI3D_F(p_host_row)(h, v, j + 1, k - 1);
    r4 = ADI3D_F(p_host_row)(h, v, j, k), r5 = ADI3D_F(p_host_row)(h, v, j + 1, k);
    r7 = ADI3D_F(p_host_row)(h, v, j, k + 1), r8 = ADI3D_F(p_host_row)(h, v, j + 1, k + 1);
    const ADI3D_R *FD_P_RESTRICT s0 = h->spread[0], *FD_P_RESTRICT s1 = h->spread[1];
    const ADI3D_R *FD_P_RESTRICT s2 = h->spread[2], *FD_P_RESTRICT s3 = h->spread[3];
    const ADI3D_R *FD_P_RESTRICT numbers = h->t.number[0];
    const ADI3D_G(fd_cell) cell_y = h->t.cell[1][j], cell_z = h->t.cell[2][k];
    const size_t padded = (size_t)h->t.padded[0];
    const int n = h->t.n[0];
    ADI3D_R y[ADI3D_M(p_most)], z[ADI3D_M(p_most)], now[ADI3D_M(p_most)];
    ADI3D_F(p_host_fetch)(n, ADI3D_F(p_host_row)(h, v, j + 4, k + 1)); /* what is new to the cache */
    ADI3D_F(p_take)(&h->t, 1, j, y), ADI3D_F(p_take)(&h->t, 2, k, z);
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = time[q];
    for (int i = 0; i < n; i++) {
        const ADI3D_G(fd_cell) cell[3] = {{s0[i], s1[i], s2[i], s3[i]}, cell_y, cell_z};
        const ADI3D_R around[27] = {0,         r0[i],     0,         r1[i - 1], r1[i],     r1[i + 1], 0,
                                    r2[i],     0,         r3[i - 1], r3[i],     r3[i + 1], r4[i - 1], r4[i],
                                    r4[i + 1], r5[i - 1], r5[i],     r5[i + 1], 0,         r6[i],     0,
                                    r7[i - 1], r7[i],     r7[i + 1], 0,         r8[i],     0};
        ADI3D_R x[ADI3D_M(p_most)];
        ADI3D_F(p_host_take)(0, numbers, padded, (size_t)i, x);
        const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms)(x, y, z, now);
        out[i] = (more ? out[i] : 0) + ADI3D_F(p_apply)(cell, &terms, mixed, own, around);
    }
}
FD_P_FLAT void ADI3D_F(p_host_apply)(const ADI3D_F(p_host) * h, const ADI3D_R *v, int j, int k, const ADI3D_R *time,
                                     ADI3D_R mixed, ADI3D_R own, ADI3D_R *out)
{
    ADI3D_F(p_host_apply_to)(h, 0, v, j, k, time, mixed, own, out);
}
FD_P_FLAT void ADI3D_F(p_host_apply_more)(const ADI3D_F(p_host) * h, const ADI3D_R *v, int j, int k,
                                          const ADI3D_R *time, ADI3D_R mixed, ADI3D_R own, ADI3D_R *out)
{
    ADI3D_F(p_host_apply_to)(h, 1, v, j, k, time, mixed, own, out);
}

/* out += scale times what the faces of an axis add to F(v) along row (j, k); slopes are given at time `when`. */
TRID_HOST void ADI3D_F(p_host_faces)(const ADI3D_F(p_host) * h, int axis, const ADI3D_R *v, int j, int k,
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
    ADI3D_R y[ADI3D_M(p_most)], z[ADI3D_M(p_most)];
    ADI3D_F(p_take)(&h->t, 1, j, y), ADI3D_F(p_take)(&h->t, 2, k, z);
    for (int i = 0; i < n; i++) {
        const ADI3D_G(fd_cell) cell = {h->spread[0][i], h->spread[1][i], h->spread[2][i], h->spread[3][i]};
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
TRID_HOST void ADI3D_F(p_host_change)(const ADI3D_F(p_host) * h, int axis, const ADI3D_R *v, int j, int k,
                                      const ADI3D_F(p_step) * step, ADI3D_R *out)
{
    if (axis == 0) ADI3D_F(p_host_change_to)(h, 0, v, j, k, step, out);
    if (axis == 1) ADI3D_F(p_host_change_to)(h, 1, v, j, k, step, out);
    if (axis == 2) ADI3D_F(p_host_change_to)(h, 2, v, j, k, step, out);
}

/* The right-hand side of stage s along row (j, k), as it is for the solve along x. */
TRID_HOST void ADI3D_F(p_host_right)(const ADI3D_F(p_host) * h, int s, int j, int k, const ADI3D_F(p_step) * step,
                                     ADI3D_R *FD_P_RESTRICT out)
{
    const ADI3D_R *base = step->pace.base[s], dt = step->pace.dt;
    const ADI3D_R *FD_P_RESTRICT u = ADI3D_F(p_host_row)(h, h->u, j, k);
    const int n = h->t.n[0], about = s && step->pace.about;
    ADI3D_F(p_host_apply)(h, h->u, j, k, step->time[0], base[0], base[1], out);
    for (int d = 0; d < 3; d++) ADI3D_F(p_host_faces)(h, d, h->u, j, k, step->time[0], step->from, base[1], out);
    if (s) {
        ADI3D_F(p_host_apply_more)(h, h->z, j, k, step->time[1], base[2], base[3], out);
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
TRID_HOST void ADI3D_F(p_host_at_face)(const ADI3D_F(p_host) * h, int axis, int side, int lines, int i, int j, int k,
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
    for (int b = 0; b < lines; b++) {
        const ADI3D_R solution = left[b] - upper[b] * after[b];
        left[b] = solution;
        to[b] = sum ? w[b] + solution : solution;
    }
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

/* Rows become columns: out[c * out_row + r] = in[r * in_row + c], eight by eight in registers where the compiler can:
   in three rounds lane l of vector v changes places with lane l ^ bit of vector v ^ bit. */
FD_P_FLAT void ADI3D_F(p_host_turn)(int rows, int columns, const ADI3D_R *FD_P_RESTRICT in, size_t in_row,
                                    ADI3D_R *FD_P_RESTRICT out, size_t out_row)
{
    /* Along the longer side block by block of a whole shorter side: that much stays in the nearest cache. */
    const int tall = rows > columns, most = tall ? rows : columns, least = tall ? columns : rows;
    for (int one = 0; one < most; one += 8)
        for (int two = 0; two < least; two += 8) {
            const int r = tall ? one : two, c = tall ? two : one;
            const ADI3D_R *FD_P_RESTRICT from = in + (size_t)r * in_row + (size_t)c;
            ADI3D_R *FD_P_RESTRICT to = out + (size_t)c * out_row + (size_t)r;
#if ADI3D_P_SHUFFLES
            if (r + 8 <= rows && c + 8 <= columns) {
                typedef ADI3D_R ADI3D_F(p_eight) __attribute__((vector_size(8 * sizeof(ADI3D_R))));
                ADI3D_F(p_eight) v[8], w[8];
                for (int q = 0; q < 8; q++) memcpy(&v[q], from + (size_t)q * in_row, sizeof v[q]);
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
                for (int q = 0; q < 8; q++) memcpy(to + (size_t)q * out_row, &w[q], sizeof w[q]);
                continue;
            }
#endif
            for (int m = 0; m < 8 && c + m < columns; m++)
                for (int q = 0; q < 8 && r + q < rows; q++)
                    to[(size_t)m * out_row + (size_t)q] = from[(size_t)q * in_row + (size_t)m];
        }
}

/* Right-hand sides and solves along x of rows j .. j + lines - 1 of plane k, into d. */
TRID_HOST void ADI3D_F(p_host_x)(const ADI3D_F(p_host) * h, int s, int lines, int j, int k,
                                 const ADI3D_F(p_step) * step)
{
    const int n = h->t.n[0];
    const size_t pitch = h->pitch, at = (size_t)k * h->plane + (size_t)j * pitch;
    const ADI3D_R *w = (s && step->pace.about ? h->z : h->u) + at;
    for (int b = 0; b < lines; b++) ADI3D_F(p_host_right)(h, s, j + b, k, step, h->rows + (size_t)b * h->wide);
    ADI3D_F(p_host_turn)(lines, n, h->rows, h->wide, h->turned, ADI3D_P_LANES);
    ADI3D_F(p_host_forward_x)(h, ADI3D_P_LANES, 0, j, k, step, h->turned, ADI3D_P_LANES, w, 1, pitch);
    ADI3D_F(p_host_back_x)(h);
    ADI3D_F(p_host_turn)(n, lines, h->tile, ADI3D_P_LANES, h->d + at, pitch);
    for (int b = 0; b < lines && step->changes && !(s && step->pace.about); b++)
        ADI3D_F(p_host_change)(h, 1, h->u, j + b, k, step, h->d + at + (size_t)b * pitch);
}

/* Which of the lanes from column i on lie on faces of x whose values have been given: the first (1), the last (2). */
TRID_HOST int ADI3D_F(p_host_kept)(const ADI3D_F(p_host) * h, int lines, int i)
{
    return (i == 0 && adi3d_p_given(h->problem, 0, 0)) +
           2 * (i + lines == h->t.n[0] && adi3d_p_given(h->problem, 0, h->t.n[0] - 1));
}

/* What exercise makes of a row's values, which begin at `at` in the grids. */
TRID_HOST void ADI3D_F(p_host_exercise)(const ADI3D_F(p_host) * h, int lines, int exercise, ADI3D_R dt, size_t at,
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
ADI3D_P_BACK(_all, ADI3D_P_LANES)
ADI3D_P_BACK(_rest, count)
#undef ADI3D_P_BACK

/* Solves along y of columns i .. of plane k, in d. */
TRID_HOST void ADI3D_F(p_host_y)(const ADI3D_F(p_host) * h, int s, int lines, int i, int k,
                                 const ADI3D_F(p_step) * step)
{
    const int kept = ADI3D_F(p_host_kept)(h, lines, i), all = lines == ADI3D_P_LANES;
    const size_t pitch = h->pitch, at = (size_t)k * h->plane + (size_t)i;
    const ADI3D_R *w = (s && step->pace.about ? h->z : h->u) + at;
    (all ? ADI3D_F(p_host_forward_y) : ADI3D_F(p_host_rest_y))(h, lines, i, 0, k, step, h->d + at, pitch, w, pitch, 1);
    (all ? ADI3D_F(p_host_back_y_all) : ADI3D_F(p_host_back_y_rest))(h, lines, kept, h->d + at);
}

/* Solves along z of columns i .. of the planes' rows j, from d, and what a stage ends with. */
TRID_HOST void ADI3D_F(p_host_z)(const ADI3D_F(p_host) * h, int s, int lines, int i, int j,
                                 const ADI3D_F(p_step) * step)
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
TRID_HOST void ADI3D_F(p_host_step)(const ADI3D_F(p_host) * h, const ADI3D_F(p_step) * step)
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
    const ADI3D_R *FD_P_RESTRICT s0 = h->spread[0], *FD_P_RESTRICT s1 = h->spread[1], *FD_P_RESTRICT s2 = h->spread[2];
    const ADI3D_R *FD_P_RESTRICT s3 = h->spread[3], *FD_P_RESTRICT numbers = h->t.number[0], size = step->pace.size;
    const ADI3D_G(fd_cell) cell_y = h->t.cell[1][j], cell_z = h->t.cell[2][k];
    const int n = h->t.n[0];
    const size_t padded = (size_t)h->t.padded[0];
    ADI3D_R y[ADI3D_M(p_most)], z[ADI3D_M(p_most)], now[ADI3D_M(p_most)];
    int weak = 0;
    ADI3D_F(p_take)(&h->t, 1, j, y), ADI3D_F(p_take)(&h->t, 2, k, z);
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = step->time[1][q];
    for (int i = 0; i < n; i++) {
        const ADI3D_G(fd_cell) cell = {s0[i], s1[i], s2[i], s3[i]};
        ADI3D_R x[ADI3D_M(p_most)];
        ADI3D_F(p_host_take)(0, numbers, padded, (size_t)i, x);
        const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms)(x, y, z, now);
        weak += ADI3D_F(p_weak_along)(0, cell, terms, size) + ADI3D_F(p_weak_along)(1, cell_y, terms, size) +
                ADI3D_F(p_weak_along)(2, cell_z, terms, size);
    }
    return weak;
}

/* What happens at a date, to a worker's rows. */
TRID_HOST void ADI3D_F(p_host_date)(const ADI3D_F(p_host) * h, int date, const fd_date *event)
{
    const int *n = h->t.n, w = h->worker;
    const double *x = h->t.x[0];
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
                if (event->what & FD_CHANGE_VALUES)
                    u[i] = (ADI3D_R)ADI3D_M(p_change)(h->parameters, date, at, (double)u[i]);
                if ((event->what & FD_EXERCISE) && !(u[i] > h->final[row + (size_t)i]))
                    u[i] = h->final[row + (size_t)i];
            }
            if (h->extra && (event->what & (FD_SHIFT | FD_CHANGE_VALUES)))
                memset(h->extra + row, 0, (size_t)n[0] * sizeof(ADI3D_R));
        }
}

/* The values at the spot. */
TRID_HOST adi3d_values ADI3D_F(p_host_values)(const ADI3D_F(p_host) * h)
{
    const fd_weights *at = h->shared->at;
    ADI3D_R around[64];
    for (int m = 0; m < 64; m++)
        around[m] = ADI3D_F(p_host_row)(h, h->u, at[1].first + m / 4 % 4, at[2].first + m / 16)[at[0].first + m % 4];
    return ADI3D_F(p_values)(at, around);
}

/* The first point whose value is not finite; with a step, whose terms are not, at its start or end. */
TRID_HOST int ADI3D_F(p_host_lost)(const ADI3D_F(p_host) * h, const ADI3D_F(p_step) * step)
{
    const int *n = h->t.n, w = h->worker;
    int lost = FD_P_NONE;
    for (int k = ADI3D_F(p_share)(h, n[2], w); k < ADI3D_F(p_share)(h, n[2], w + 1) && lost == FD_P_NONE; k++)
        for (int j = 0; j < n[1]; j++) {
            const ADI3D_R *u = ADI3D_F(p_host_row)(h, h->u, j, k);
            for (int i = 0; i < n[0]; i++) {
                int good = step ? ADI3D_F(p_finite)(ADI3D_F(p_terms_at)(&h->t, i, j, k, step->time[0])) &&
                                      ADI3D_F(p_finite)(ADI3D_F(p_terms_at)(&h->t, i, j, k, step->time[1]))
                                : ADI3D_G(trid_finite)(u[i]);
                if (!good) fd_p_least(&lost, i + n[0] * (j + n[1] * k));
            }
        }
    return ADI3D_F(p_together)(h, lost, 0);
}

/* Sets a worker's planes to the final values, and what surrounds them to 0. */
TRID_HOST fd_status ADI3D_F(p_host_begin)(const ADI3D_F(p_host) * h)
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
            }
    memset(h->turned, 0, (size_t)adi3d_p_longest(h->problem) * ADI3D_P_LANES * sizeof(ADI3D_R));
    lost = ADI3D_F(p_together)(h, lost, 0);
    return lost == FD_P_NONE ? fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1) : ADI3D_F(p_lost)(h, FD_FINAL_NAN, lost, -1);
}

/* A worker's part of a march. Returns its status, the same for all. */
TRID_HOST fd_status ADI3D_F(p_host_march)(const ADI3D_F(p_host) * h, adi3d_result *result)
{
    enum { ADI3D_P_SOME = 32 }; /* steps made at a time */
    const adi3d_problem *problem = h->problem;
    fd_step some[ADI3D_P_SOME];
    ADI3D_F(p_step) step;
    int steps = 0, weak = 0, lost;
    fd_status status = ADI3D_F(p_host_begin)(h);
    fd_schedule_part(&problem->times, 0, 0, NULL, &steps);
    for (int k = 0; k < steps && !status.what; k++) {
        if (k % ADI3D_P_SOME == 0) fd_schedule_part(&problem->times, k, ADI3D_P_SOME, some, &steps);
        status = ADI3D_F(p_step_of)(problem, h->parameters, &some[k % ADI3D_P_SOME], k, &step);
        if (status.what) break;
        if (problem->watched && (lost = ADI3D_F(p_host_lost)(h, &step)) != FD_P_NONE)
            return ADI3D_F(p_lost)(h, FD_MODEL_NAN, lost, k);
        for (int end = (k == 0) + (k == steps - 1); end > 0; end--)
            for (int m = ADI3D_F(p_share)(h, h->t.n[2], h->worker); m < ADI3D_F(p_share)(h, h->t.n[2], h->worker + 1);
                 m++)
                for (int j = 0; j < h->t.n[1]; j++) weak += ADI3D_F(p_host_weak)(h, j, m, &step);
        ADI3D_F(p_host_step)(h, &step);
        const fd_date *event = adi3d_p_event(problem, step.pace.date);
        if (event && event->what != FD_RECORD) {
            ADI3D_F(p_host_date)(h, step.pace.date, event);
            ADI3D_F(p_meet)(h);
        }
        if (event && (event->what & FD_RECORD) && h->worker == 0)
            result->values[1 + step.pace.date] = ADI3D_F(p_host_values)(h);
        if (problem->watched && (lost = ADI3D_F(p_host_lost)(h, NULL)) != FD_P_NONE)
            return ADI3D_F(p_lost)(h, FD_NOT_SOLVED, lost, k);
        if (problem->progress && h->worker == 0) problem->progress(k + 1, steps, problem->context);
    }
    if (status.what) return status;
    lost = ADI3D_F(p_host_lost)(h, NULL);
    if (lost != FD_P_NONE) status = ADI3D_F(p_lost)(h, FD_NOT_SOLVED, lost, steps - 1);
    status.weak = ADI3D_F(p_together)(h, weak, 1);
    return status;
}

/* Solves   how much memory the host's workers need together
   Returns  bytes, 0 for a problem that is none (adi3d_check) or no workers */
TRID_HOST size_t ADI3D_F(host_bytes)(const adi3d_problem *problem, int workers)
{
    if (workers < 1 || adi3d_check(problem).what) return 0;
    return ADI3D_F(p_host_lay_out)(problem, 0, workers, NULL, NULL);
}

/* Solves   one of the workers' part in a problem
   Needs    all workers 0 .. workers - 1 in this function at the same time, each in a thread of its own, with the same
            arguments but for worker; meet(context), which returns when all have called it (null for one worker); memory
            of host_bytes, aligned as malloc does
   Leaves   the result, when all have returned
   Returns  result->status.what, or FD_BAD_ARGUMENT for a null pointer; FD_NO_ROOM: less memory than host_bytes;
            FD_BAD_SIZE: a worker that there cannot be
   Cost     a stage reads the values, writes and reads the differences, and reads and writes the values: five passes
            over memory; a second stage one more */
TRID_HOST int ADI3D_F(host_worker)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters, int worker,
                                   int workers, void *memory, size_t bytes, void (*meet)(void *context), void *context,
                                   adi3d_result *result)
{
    if (!result || !result->values || !parameters || !memory || (workers > 1 && !meet)) return FD_BAD_ARGUMENT;
    if (workers < 1 || worker < 0 || worker >= workers) return FD_BAD_SIZE;
    fd_status status = adi3d_check(problem);
    if (!status.what && bytes < ADI3D_F(host_bytes)(problem, workers))
        status = fd_status_of(FD_NO_ROOM, 0, -1, -1, -1, -1, -1);
    if (!status.what) {
        ADI3D_F(p_host) host, *h = &host;
        ADI3D_F(p_host_lay_out)(problem, worker, workers, (unsigned char *)memory, h);
        h->parameters = parameters, h->meet = meet, h->context = context;
        if (worker == 0) {
            for (int d = 0; d < 3 && !status.what; d++) status = ADI3D_F(p_axis)(problem, parameters, d, &h->t);
            for (int i = 0; i < h->t.n[0] && !status.what; i++) {
                const ADI3D_G(fd_cell) cell = h->t.cell[0][i];
                h->spread[0][i] = cell.below, h->spread[1][i] = cell.above;
                h->spread[2][i] = cell.h, h->spread[3][i] = cell.w;
            }
            memset(h->zeros, 0, ADI3D_P_LANES * sizeof(ADI3D_R));
            memcpy(h->shared->at, h->t.at, sizeof h->t.at);
            h->shared->status = status;
        }
        ADI3D_F(p_meet)(h);
        status = h->shared->status;
        if (!status.what) status = ADI3D_F(p_host_march)(h, result);
        if (!status.what && worker == 0) result->values[0] = ADI3D_F(p_host_values)(h);
        const int *n = h->t.n;
        for (int k = ADI3D_F(p_share)(h, n[2], worker); k < ADI3D_F(p_share)(h, n[2], worker + 1); k++)
            for (int j = 0; j < n[1] && result->grid && !status.what; j++)
                memcpy((ADI3D_R *)result->grid + (size_t)n[0] * ((size_t)j + (size_t)n[1] * (size_t)k),
                       ADI3D_F(p_host_row)(h, h->u, j, k), (size_t)n[0] * sizeof(ADI3D_R));
    }
    if (worker == 0) {
        result->status = status;
        if (status.what && problem) ADI3D_F(p_no_results)(problem, result);
    }
    return status.what;
}

/* Solves   a problem by `workers` threads of OpenMP, where the program is compiled with it, else by the calling one
   Needs    memory of host_bytes, aligned as malloc does
   Leaves   the result
   Returns  as host_worker */
TRID_HOST int ADI3D_F(host)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters, int workers,
                            void *memory, size_t bytes, adi3d_result *result)
{
    int what = workers < 1 ? FD_BAD_SIZE : FD_OK;
    if (what) return what;
#ifdef _OPENMP
#pragma omp parallel num_threads(workers)
    {
        int mine = ADI3D_F(host_worker)(problem, parameters, omp_get_thread_num(), omp_get_num_threads(), memory, bytes,
                                        adi3d_p_barrier, NULL, result);
        if (omp_get_thread_num() == 0) what = mine;
    }
#else
    what = ADI3D_F(host_worker)(problem, parameters, 0, 1, memory, bytes, NULL, NULL, result);
#endif
    return what;
}

#endif /* TRID_HOST_SCOPE */

/* ---- the device -------------------------------------------------------------------------------------------------- */

/* Grids in device memory have rows of pitch elements; what a row has beyond its points is finite. A stage is three
   kernels (docs/adi3d.md has the passes over memory): right-hand side and lines along x, which leave differences in d;
   lines along y, in place; lines along z, and what a stage ends with. Lines along x are a warp's or several warps', K
   points a lane; lines along y and z lie side by side in a block (trid_block_lines). */
#if TRID_LAUNCHES

extern "C++" {

/* What the kernels of a march are told: all pointers are to device memory, but for those in problem, which no kernel
   follows. */
typedef struct {
    ADI3D_F(p_tables) t;
    adi3d_problem problem;
    const ADI3D_M(parameters) * parameters;
    ADI3D_R *u, *z, *d;       /* values, a first stage's, differences */
    ADI3D_R *final, *extra;   /* final values, exercise's multiplier; null where there is none */
    unsigned long long *lost; /* when (p_device_note), times 2^32, and at which point something was not finite first */
    int *weak;                /* rows that are not dominant */
    adi3d_values *values;     /* as a result's */
    int pitch, plane, elements; /* from row to row, from plane to plane, all */
    int processors, shared;     /* of the device: how many, and the shared memory of one */
} ADI3D_F(p_device);

/* Hands out device memory; with null, only counts. */
TRID_HOST size_t ADI3D_F(p_device_lay_out)(const adi3d_problem *problem, unsigned char *memory,
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
        *grids[g] = (ADI3D_R *)(memory + used), used += grid;
    }
    for (int d = 0; d < 3; d++)
        used += ADI3D_F(p_axis_lay_out)(d, problem->axis[d].points, memory ? memory + used : NULL, &h.t);
    h.parameters = (const ADI3D_M(parameters) *)(memory + used), used += fd_p_round(sizeof *h.parameters);
    h.values = (adi3d_values *)(memory + used);
    used += fd_p_round((size_t)(1 + problem->times.dates) * sizeof *h.values);
    h.lost = (unsigned long long *)(memory + used), h.weak = (int *)(h.lost + 1), used += fd_p_round(16);
    if (device) *device = h;
    return used;
}

/* ---- what is done point by point --------------------------------------------------------------------------------- */

/* Element of point (i, j, k). */
TRID_D int ADI3D_F(p_device_at)(const ADI3D_F(p_device) & h, int i, int j, int k)
{
    return i + h.pitch * j + h.plane * k;
}

/* What the faces of an axis add to F(v) at point (i, j, k). */
template <int AXIS>
TRID_D ADI3D_R ADI3D_F(p_device_face)(const ADI3D_F(p_device) & h, const ADI3D_R *v, int i, int j, int k,
                                      const ADI3D_R *time, double when)
{
    const int index = AXIS == 0 ? i : AXIS == 1 ? j : k, stride = AXIS == 0 ? 1 : AXIS == 1 ? h.pitch : h.plane;
    const ADI3D_R *here = v + ADI3D_F(p_device_at)(h, i, j, k);
    ADI3D_R sum = 0;
    if (index == 0 && ADI3D_F(p_adds)(&h.problem, AXIS, 0))
        sum += ADI3D_F(p_at_face)(&h.problem, h.parameters, &h.t, AXIS, 0, i, j, k, time, when, here[stride],
                                  here[2 * stride]);
    if (index == h.t.n[AXIS] - 1 && ADI3D_F(p_adds)(&h.problem, AXIS, 1))
        sum += ADI3D_F(p_at_face)(&h.problem, h.parameters, &h.t, AXIS, 1, i, j, k, time, when, here[-stride],
                                  here[-2 * stride]);
    return sum;
}

/* mixed F_0(v) + own (F_1 + F_2 + F_3)(v) at point (i, j, k), faces and all, from device memory. */
TRID_D ADI3D_R ADI3D_F(p_device_apply)(const ADI3D_F(p_device) & h, const ADI3D_R *v, int i, int j, int k,
                                       const ADI3D_R *time, double when, ADI3D_R mixed, ADI3D_R own)
{
    const int at = ADI3D_F(p_device_at)(h, i, j, k);
    const int x[3] = {i > 0 ? -1 : 0, 0, i < h.t.n[0] - 1 ? 1 : 0};
    const int y[3] = {j > 0 ? -h.pitch : 0, 0, j < h.t.n[1] - 1 ? h.pitch : 0};
    const int z[3] = {k > 0 ? -h.plane : 0, 0, k < h.t.n[2] - 1 ? h.plane : 0};
    const ADI3D_G(fd_cell) cell[3] = {h.t.cell[0][i], h.t.cell[1][j], h.t.cell[2][k]};
    const ADI3D_G(adi3d_terms) terms = ADI3D_F(p_terms_at)(&h.t, i, j, k, time);
    ADI3D_R around[27];
    TRID_UNROLL
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
template <int AXIS>
TRID_D ADI3D_R ADI3D_F(p_device_change)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int i, int j, int k)
{
    if ((i == 0 && h.problem.face[0][0] == FD_VALUE) || (i == h.t.n[0] - 1 && h.problem.face[0][1] == FD_VALUE))
        return 0;
    const int index = AXIS == 0 ? i : AXIS == 1 ? j : k, stride = AXIS == 0 ? 1 : AXIS == 1 ? h.pitch : h.plane;
    const ADI3D_R *here = h.u + ADI3D_F(p_device_at)(h, i, j, k);
    const ADI3D_R low = here[index > 0 ? -stride : 0], high = here[index < h.t.n[AXIS] - 1 ? stride : 0];
    const ADI3D_G(fd_cell) cell = h.t.cell[AXIS][index];
    const ADI3D_G(adi3d_terms) start = ADI3D_F(p_terms_at)(&h.t, i, j, k, step.time[0]);
    const ADI3D_G(adi3d_terms) end = ADI3D_F(p_terms_at)(&h.t, i, j, k, step.time[1]);
    return step.pace.size * (ADI3D_F(p_along)(AXIS, cell, end, low, *here, high) -
                                 ADI3D_F(p_along)(AXIS, cell, start, low, *here, high) + ADI3D_F(p_device_face) <
                             AXIS > (h, h.u, i, j, k, step.time[1], step.to) - ADI3D_F(p_device_face) < AXIS >
                             (h, h.u, i, j, k, step.time[0], step.from));
}

/* The right-hand side of stage s at point (i, j, k), as it is for the solve along x. */
TRID_D ADI3D_R ADI3D_F(p_device_right)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int s, int i, int j,
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

/* K rows of the matrix along an axis, of the line through point (i, j, k), as rows within; own(r, number) gives row r's
   cell and numbers of the axis. */
template <int AXIS, int K, class Own>
TRID_D void ADI3D_F(p_device_rows)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int i, int j, int k,
                                   Own own, ADI3D_R *a, ADI3D_R *b, ADI3D_R *c)
{
    ADI3D_R number[3][ADI3D_M(p_most)], now[ADI3D_M(p_most)];
    if (AXIS != 0) ADI3D_F(p_take)(&h.t, 0, i, number[0]);
    if (AXIS != 1) ADI3D_F(p_take)(&h.t, 1, j, number[1]);
    if (AXIS != 2) ADI3D_F(p_take)(&h.t, 2, k, number[2]);
    TRID_UNROLL
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = step.time[1][q];
    TRID_UNROLL
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
TRID_D void ADI3D_F(p_device_face_row)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int side, int i,
                                       int j, int k, ADI3D_R w, ADI3D_R *row)
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
TRID_D void ADI3D_F(p_device_make_faces)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int first, int i,
                                         int j, int k, const ADI3D_R *w, int stride, RightOf right_of, ADI3D_R *kept)
{
    TRID_UNROLL
    for (int side = 0; side < 2; side++) {
        const int m = side ? h.t.n[AXIS] - 1 : 0, in = side ? m - 1 : 1, kind = h.problem.face[AXIS][side];
        ADI3D_R row[4];
        if (m < first || m >= first + K || (kind != FD_VALUE && kind != FD_DEGENERATE)) continue;
        ADI3D_F(p_device_face_row)<AXIS>(h, step, side, AXIS == 0 ? m : i, AXIS == 1 ? m : j, AXIS == 2 ? m : k,
                                         w[m * stride], row);
        TRID_UNROLL
        for (int e = 0; e < 4; e++) kept[8 * side + e] = row[e];
        kept[8 * side + 4] = kind == FD_DEGENERATE && in < first ? right_of(in) : 0;
    }
}

/* Row r, if it is m, as a face's: as it was made; or, where nothing need be, without couplings that would keep it from
   being dominant (fd_lane_lag). */
TRID_D void ADI3D_F(p_device_put_face)(int kind, int due, const ADI3D_R *row, ADI3D_R near_by, ADI3D_R *a, ADI3D_R *b,
                                       ADI3D_R *c, ADI3D_R *d)
{
    if (!due) return;
    if (kind == FD_VALUE || kind == FD_DEGENERATE) {
        *a = row[0], *b = row[1], *c = row[2];
        *d = kind == FD_VALUE ? row[3] : *d + row[3] * near_by;
    } else if (!(*b > (*a < 0 ? -*a : *a) + (*c < 0 ? -*c : *c))) {
        const ADI3D_R below = *a > 0 ? *a : 0, above = *c > 0 ? *c : 0;
        *a -= below, *b += below + above, *c -= above;
    }
}

/* Puts them where they belong; the lane that has made them calls. */
template <int AXIS, int K>
TRID_D void ADI3D_F(p_device_put_faces)(const ADI3D_F(p_device) & h, int first, const ADI3D_R *kept, ADI3D_R *a,
                                        ADI3D_R *b, ADI3D_R *c, ADI3D_R *d)
{
    const int last = h.t.n[AXIS] - 1, kind = h.problem.face[AXIS][1];
    ADI3D_F(p_device_put_face)(h.problem.face[AXIS][0], first == 0, kept, d[1], a, b, c, d);
    if (last < first || last >= first + K) return;
    auto near_by = [&](int r) {
        return r > 0 ? d[r > 0 ? r - 1 : 0] : kind == FD_DEGENERATE && first == last ? kept[12] : 0;
    };
    TRID_UNROLL
    for (int r = 0; r < K; r++) ADI3D_F(p_device_put_face)
    (kind, first + r == last, kept + 8, near_by(r), a + r, b + r, c + r, d + r);
}

/* One line of n rows by Q warps of the block that follow each other, K rows a lane; shared: 6 elements a warp, of which
   the barrier must have been passed since they were last used. All threads call. The same as trid_block_hybrid, for
   several lines a block. */
template <int K, int Q>
TRID_D void ADI3D_F(p_device_solve_row)(int n, ADI3D_R *a, ADI3D_R *b, ADI3D_R *c, ADI3D_R *d, ADI3D_R *shared)
{
    if (Q == 1) {
        ADI3D_G(trid_warp_hybrid)(K, 32, n, a, b, c, d);
        return;
    }
    const int lane = trid_p_lane(), warp = trid_p_thread() / 32, part = warp % Q, first = K * (32 * part + lane);
    ADI3D_G(trid_p_pad)(K, first, n, 32 * K * Q, a, b, c, d);
    ADI3D_G(trid_lane_reduce)(K, a, b, c, d);
    ADI3D_R row_a = a[K - 1], row_c = c[K - 1], row_d = d[K - 1];
    ADI3D_R first_a = __shfl_down_sync(TRID_P_FULL, a[0], 1), first_c = __shfl_down_sync(TRID_P_FULL, c[0], 1);
    ADI3D_R first_d = __shfl_down_sync(TRID_P_FULL, d[0], 1);
    if (lane == 31) first_a = 0, first_c = -1, first_d = 0; /* stays coupled to the next warp's first unknown */
    ADI3D_G(trid_lane_link)(&row_a, &row_c, &row_d, first_a, first_c, first_d);
    ADI3D_G(trid_p_group_reduce_open)(32, &row_a, &row_c, &row_d);
    ADI3D_R *mine = shared + 6 * warp;
    if (lane == 0) mine[0] = a[0] - c[0] * row_a, mine[1] = -c[0] * row_c, mine[2] = d[0] - c[0] * row_d;
    if (lane == 31) mine[3] = row_a, mine[4] = row_c, mine[5] = row_d;
    __syncthreads();
    const ADI3D_R *of = shared + 6 * (warp - part + lane);
    const int there = lane < Q, next = lane + 1 < Q;
    ADI3D_R warp_a = there ? of[3] : 0, warp_c = there ? of[4] : 0, x = there ? of[5] : 0;
    ADI3D_G(trid_lane_link)(&warp_a, &warp_c, &x, next ? of[6] : 0, next ? of[7] : 0, next ? of[8] : 0);
    ADI3D_G(trid_p_pcr)(32, Q, warp_a, warp_c, &x, (ADI3D_R *)0);
    const ADI3D_R before = __shfl_sync(TRID_P_FULL, x, part > 0 ? part - 1 : 0);
    const ADI3D_R last = __shfl_sync(TRID_P_FULL, x, part);
    row_d = lane == 31 ? last : row_d - row_a * before - row_c * last;
    const ADI3D_R left = __shfl_up_sync(TRID_P_FULL, row_d, 1);
    ADI3D_G(trid_lane_expand)(K, a, c, d, lane == 0 ? before : left, row_d);
}

/* The solve along x of row (j, k) and its writing to d, right-hand sides in d[] of the lane's points from `first` on;
   there is no such row where n is 0. kept: of p_device_make_faces. */
template <int K, int Q>
TRID_D void ADI3D_F(p_device_finish_x)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int s, int n,
                                       int first, int j, int k, ADI3D_R *d, ADI3D_R *shared, ADI3D_R *kept)
{
    enum { V = 16 / sizeof(ADI3D_R) };
    ADI3D_R a[K], b[K], c[K];
    const int at = ADI3D_F(p_device_at)(h, 0, j, k);
    if (n > 0)
        ADI3D_F(p_device_make_faces)<0, K>(
            h, step, first, 0, j, k, (s && step.pace.about ? h.z : h.u) + at, 1,
            [&](int m) { return ADI3D_F(p_device_right)(h, step, s, m, j, k); }, kept);
    auto own = [&](int r, ADI3D_R *number) {
        const int i = first + r < h.t.n[0] ? first + r : h.t.n[0] - 1;
        ADI3D_F(p_take)(&h.t, 0, i, number);
        return h.t.cell[0][i];
    };
    ADI3D_F(p_device_rows)<0, K>(h, step, 0, j, k, own, a, b, c);
    if (n > 0) ADI3D_F(p_device_put_faces)<0, K>(h, first, kept, a, b, c, d);
    ADI3D_F(p_device_solve_row)<K, Q>(n, a, b, c, d, shared);
    /* Rows are padded to 128 bytes: a vector that begins within one ends within it. */
    TRID_UNROLL
    for (int r = 0; r < K; r += V)
        if (first + r < n) *(ADI3D_P_VECTOR *)(h.d + at + first + r) = ADI3D_G(transpose_p_pack)(d + r);
}

/* Right-hand side and lines along x, from device memory: any step. A row has Q warps, a block ROWS rows of a plane. */
template <int K, int Q, int ROWS>
TRID_KERNEL void __launch_bounds__(32 * Q * ROWS)
    ADI3D_F(p_device_any_x)(const __grid_constant__ ADI3D_F(p_device) h, const __grid_constant__ ADI3D_F(p_step) step,
                            int s)
{
    __shared__ ADI3D_R shared[6 * Q * ROWS], kept[16 * ROWS];
    const int warp = trid_p_thread() / 32, first = K * (32 * (warp % Q) + trid_p_lane());
    const int row = ROWS * (int)blockIdx.x + warp / Q, there = row < h.t.n[1], j = there ? row : 0, k = (int)blockIdx.y;
    const int n = there ? h.t.n[0] : 0;
    ADI3D_R d[K];
    TRID_UNROLL
    for (int r = 0; r < K; r++) d[r] = first + r < n ? ADI3D_F(p_device_right)(h, step, s, first + r, j, k) : 0;
    ADI3D_F(p_device_finish_x)<K, Q>(h, step, s, n, first, j, k, d, shared, kept + warp / Q * 16);
}

/* A row of 32 K Q points in shared memory, as the lanes of Q warps read it, V points of 16 bytes at a time, without
   bank conflicts: of each warp's points the first V of all its lanes, then the next V, a gap of 8 V / (K / V) after each, so
   that what one copies, vectors that follow each other, also goes to different banks. */
#define ADI3D_P_VECTORED (16 / (int)sizeof(ADI3D_R))
#define ADI3D_P_GROUP(K) (32 * ADI3D_P_VECTORED + 8 * ADI3D_P_VECTORED * ADI3D_P_VECTORED / (K))
#define ADI3D_P_PART(K) ((K) / ADI3D_P_VECTORED * ADI3D_P_GROUP(K))
#define ADI3D_P_PLANE(K, Q, ROWS) (((ROWS) + 2) * (Q)*ADI3D_P_PART(K))    /* ROWS rows and one on each side */
#define ADI3D_P_ALONG_X(K, Q, numbers) (32 * (K) * (Q) * (4 + (numbers))) /* cells and numbers of the points of a row */

/* K values of a lane; with those on each side around them, which at a row's ends are whatever is finite. */
template <int K>
TRID_D void ADI3D_F(p_device_values_of)(const ADI3D_R *part, int lane, ADI3D_R *v)
{
    TRID_UNROLL
    for (int r = 0; r < K; r += ADI3D_P_VECTORED) ADI3D_G(transpose_p_unpack)
    (*(const ADI3D_P_VECTOR *)(part + r / ADI3D_P_VECTORED * ADI3D_P_GROUP(K) + ADI3D_P_VECTORED * lane), v + r);
}
template <int K, int Q>
TRID_D void ADI3D_F(p_device_row_of)(const ADI3D_R *part, int of_row, int lane, ADI3D_R *v)
{
    ADI3D_F(p_device_values_of)<K>(part, lane, v + 1);
    v[0] = __shfl_up_sync(TRID_P_FULL, v[K], 1), v[K + 1] = __shfl_down_sync(TRID_P_FULL, v[1], 1);
    if (Q > 1 && lane == 0 && of_row > 0) v[0] = part[32 * ADI3D_P_VECTORED - ADI3D_P_GROUP(K) - 1];
    if (Q > 1 && lane == 31 && of_row < Q - 1) v[K + 1] = part[ADI3D_P_PART(K)];
}

/* What the faces of the axes add to out[] of a lane's points, where they add to u and z in the base of a stage. */
template <int KIND, int AXIS>
TRID_D ADI3D_R ADI3D_F(p_device_face_of)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int i, int j, int k)
{
    const ADI3D_R *base = step.pace.base[KIND ? 1 : 0];
    ADI3D_R sum = base[1] * ADI3D_F(p_device_face)<AXIS>(h, h.u, i, j, k, step.time[0], step.from);
    if (KIND) sum += base[3] * ADI3D_F(p_device_face)<AXIS>(h, h.z, i, j, k, step.time[1], step.to);
    return sum;
}
template <int KIND, int K>
TRID_D void ADI3D_F(p_device_faces_of)(const ADI3D_F(p_device) & h, const ADI3D_F(p_step) & step, int first, int j,
                                       int k, ADI3D_R *out)
{
    const int *n = h.t.n;
    TRID_UNROLL
    for (int side = 0; side < 2; side++) {
        const int i = side ? n[0] - 1 : 0;
        if (!ADI3D_F(p_adds)(&h.problem, 0, side) || i < first || i >= first + K) continue;
        const ADI3D_R sum = ADI3D_F(p_device_face_of)<KIND, 0>(h, step, i, j, k);
        TRID_UNROLL
        for (int r = 0; r < K; r++) out[r] += first + r == i ? sum : 0;
    }
    if (j > 0 && j < n[1] - 1 && k > 0 && k < n[2] - 1) return;
    TRID_P_LOOP
    for (int m = 0; m < K; m++) {
        if (first + m >= n[0]) continue;
        const ADI3D_R sum = ADI3D_F(p_device_face_of)<KIND, 1>(h, step, first + m, j, k) +
                            ADI3D_F(p_device_face_of)<KIND, 2>(h, step, first + m, j, k);
        TRID_UNROLL
        for (int r = 0; r < K; r++) out[r] += r == m ? sum : 0;
    }
}

/* Right-hand side and lines along x of a step in which nothing changes (step.changes). A block has ROWS rows of a
   plane, Q warps each, and marches along z, planes in shared memory and the next on its way. KIND 0: a first stage, or the only one. In a second one F is
   linear in u and z, of which sums have the derivatives once: with their sum in the place of u, in that of z their
   difference (KIND 1, about z), or what F_1 + F_2 + F_3 are taken of (2). */
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
        NUMBERS = ADI3D_M(numbers_of_x),
        BESIDE = Q * ADI3D_P_PART(K)
    };
    TRID_DYNAMIC_SHARED(memory);
    ADI3D_R *cells = (ADI3D_R *)memory, *numbers = cells + 4 * 32 * K * Q, *shared = numbers + NUMBERS * 32 * K * Q;
    const int thread = trid_p_thread(), lane = trid_p_lane(), warp = thread / 32, part = warp % Q, row = warp / Q;
    ADI3D_R *face = shared + 8 * Q * ROWS + 16 * row, *ring = shared + 24 * Q * ROWS; /* of the row's ends */
    const transpose_p_place to_ring = transpose_p_place_of(ring);
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
        TRID_UNROLL
        for (int q = 0; q < PASSES; q++) {
            const int y = j0 - 1 + row_of(q), line = y < 0 ? 0 : y < n[1] ? y : n[1] - 1;
            const int at = plane + h.pitch * line + V * vector_of(q);
            if (!is_there(q) || k > to) continue;
            transpose_p_copy(to_ring, (int)sizeof(ADI3D_R) * (slot * SLOT + put(q)), h.u + at);
            if (KIND) transpose_p_copy(to_ring, (int)sizeof(ADI3D_R) * (slot * SLOT + PLANE + put(q)), h.z + at);
        }
        transpose_p_commit();
    };
    /* What the thread has copied becomes what is marched over. */
    auto combine = [&](int slot) {
        TRID_UNROLL
        for (int q = 0; q < PASSES; q++) {
            ADI3D_P_VECTOR *u = (ADI3D_P_VECTOR *)(ring + slot * SLOT + put(q)), *z = u + PLANE / V;
            ADI3D_R a[V], b[V];
            if (!is_there(q)) continue;
            ADI3D_G(transpose_p_unpack)(*u, a), ADI3D_G(transpose_p_unpack)(*z, b);
            TRID_UNROLL
            for (int e = 0; e < V; e++) {
                const ADI3D_R one = a[e], two = b[e];
                a[e] = one + two, b[e] = KIND == 1 ? one - two : base[1] * one + base[3] * two;
            }
            *u = ADI3D_G(transpose_p_pack)(a), *z = ADI3D_G(transpose_p_pack)(b);
        }
    };
    for (int e = thread; e < 4 * SLOT; e += THREADS) ring[e] = 0;
    /* Point K l + r of lane l of part p: [p][r][l]. */
    for (int e = thread; e < 32 * K * Q; e += THREADS) {
        const int i = e / (32 * K) * 32 * K + e % 32 * K + e / 32 % K, last = i < n[0] ? i : n[0] - 1;
        ((ADI3D_G(fd_cell) *)cells)[e] = h.t.cell[0][last];
        TRID_UNROLL
        for (int q = 0; q < NUMBERS; q++) numbers[q * 32 * K * Q + e] = h.t.number[0][q * h.t.padded[0] + last];
    }
    __syncthreads();
    fetch(from - 1, 0);
    const ADI3D_G(fd_cell) cell_y = h.t.cell[1][j];
    const ADI3D_R down_y = cell_y.below * (1 - cell_y.w), up_y = cell_y.above * cell_y.w;
    ADI3D_R number_y[ADI3D_M(p_most)], number_k[ADI3D_M(p_most)], number_p[ADI3D_M(p_most)], now[ADI3D_M(p_most)];
    ADI3D_F(p_take)(&h.t, 1, j, number_y);
    TRID_UNROLL
    for (int q = 0; q < ADI3D_M(p_numbers)(3); q++) now[q] = step.time[1][q];
    const ADI3D_G(fd_cell) *cell_x = (const ADI3D_G(fd_cell) *)cells + 32 * K * part + lane;
    const ADI3D_R *number_x = numbers + 32 * K * part + lane;
    enum { ALONG_Y = ((int)ADI3D_M(mixed) & 1) != 0, ALONG_X = ((int)ADI3D_M(mixed) & 6) != 0 };
    /* Of the plane before: its slopes, and what of its right-hand sides it has itself and the one before it. */
    ADI3D_R along_y[K], along_x[K], half[K];
    TRID_UNROLL
    for (int r = 0; r < K; r++) along_y[r] = along_x[r] = half[r] = 0;
    TRID_P_LOOP
    for (int p = from - 1; p <= to; p++) {
        const int slot = (p + 1 - from) & 3;
        const ADI3D_R *here = mine + slot * SLOT, *low = mine + ((slot + 3) & 3) * SLOT;
        const int k = p - 1, kz = k < 0 ? 0 : k, pz = p < 0 ? 0 : p < n[2] ? p : n[2] - 1;
        TRANSPOSE_P_AWAIT(0);
        if (KIND) combine(slot);
        __syncthreads();
        fetch(p + 1, (slot + 1) & 3);
        const int at = ADI3D_F(p_device_at)(h, first, j, kz);
        if (k >= from) {
            /* What few points have, before the many registers that all need. */
            TRID_UNROLL
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
        /* Of plane k what it needs of plane p, which is the last, and of plane p all but what it needs of the next. */
        const ADI3D_G(fd_cell) cell_k = h.t.cell[2][kz], cell_p = h.t.cell[2][pz];
        ADI3D_F(p_take)(&h.t, 2, kz, number_k), ADI3D_F(p_take)(&h.t, 2, pz, number_p);
        const ADI3D_R up_k = mixed * (cell_k.above * cell_k.w), down_p = mixed * (cell_p.below * (1 - cell_p.w));
        TRID_UNROLL
        for (int r = 0; r < K; r++) {
            const ADI3D_G(fd_cell) cell = cell_x[32 * r];
            const ADI3D_R down = cell.below * (1 - cell.w), up = cell.above * cell.w;
            ADI3D_R number[ADI3D_M(p_most)];
            TRID_UNROLL
            for (int q = 0; q < NUMBERS; q++) number[q] = number_x[(q * K * Q + r) * 32];
            const ADI3D_G(adi3d_terms) at_k = ADI3D_F(p_terms)(number, number_y, number_k, now);
            const ADI3D_G(adi3d_terms) at_p = ADI3D_F(p_terms)(number, number_y, number_p, now);
            const ADI3D_R *s = at_k.volatility, *t = at_p.volatility;
            ADI3D_R right = half[r], next = 0;
            if (r % V == 0) ADI3D_G(transpose_p_unpack)
            (*(const ADI3D_P_VECTOR *)(low + r / V * ADI3D_P_GROUP(K) + V * lane), before + r);
            if (KIND < 2) {
                const ADI3D_R more = v[r + 1] - before[r];
                /* Differences as p_first has them: most of them are made once. */
                const ADI3D_G(fd_row) row_x = ADI3D_F(p_row)(0, cell, at_p), row_y = ADI3D_F(p_row)(1, cell_y, at_p);
                const ADI3D_G(fd_row) row_p = ADI3D_F(p_row)(2, cell_p, at_p);
                right += own * ADI3D_F(p_row)(2, cell_k, at_k).above * more;
                next = own * (row_x.above * (v[r + 2] - v[r + 1]) - row_x.below * (v[r + 1] - v[r]) +
                              row_y.above * (north[r + 1] - v[r + 1]) - row_y.below * (v[r + 1] - south[r + 1]) -
                              row_p.below * more - at_p.kill * v[r + 1]);
            }
            if (ALONG_Y) {
                const ADI3D_R slope = ADI3D_F(p_first)(down_y, up_y, south[r + 1], v[r + 1], north[r + 1]);
                const ADI3D_R more = slope - along_y[r];
                right += up_k * at_k.beta[0] * s[2] * s[1] * more;
                next += down_p * at_p.beta[0] * t[2] * t[1] * more;
                along_y[r] = slope;
            }
            if (ALONG_X) {
                const ADI3D_R slope = ADI3D_F(p_first)(down, up, v[r], v[r + 1], v[r + 2]);
                if ((int)ADI3D_M(mixed) & 2) {
                    const ADI3D_R more = slope - along_x[r];
                    right += up_k * at_k.beta[1] * s[2] * (s[0] * more);
                    next += down_p * at_p.beta[1] * t[2] * (t[0] * more);
                }
                if ((int)ADI3D_M(mixed) & 4)
                    next +=
                        mixed * at_p.beta[2] * t[1] * t[0] *
                        ADI3D_F(p_first)(down_y, up_y, ADI3D_F(p_first)(down, up, south[r], south[r + 1], south[r + 2]),
                                         slope, ADI3D_F(p_first)(down, up, north[r], north[r + 1], north[r + 2]));
                along_x[r] = slope;
            }
            d[r] = right, half[r] = next;
            ADI3D_G(fd_lane_matrix)(ADI3D_F(p_row)(0, cell, at_k), size, at_k.kill / 3, &a[r], &b[r], &c[r]);
        }
        if (KIND == 2) {
            ADI3D_F(p_device_row_of)<K, Q>(here + PLANE, part, lane, v);
            ADI3D_F(p_device_values_of)<K>(here + PLANE - BESIDE, lane, south);
            ADI3D_F(p_device_values_of)<K>(here + PLANE + BESIDE, lane, north);
            ADI3D_F(p_device_values_of)<K>(low + PLANE, lane, before);
            TRID_UNROLL
            for (int r = 0; r < K; r++) {
                ADI3D_R number[ADI3D_M(p_most)];
                TRID_UNROLL
                for (int q = 0; q < NUMBERS; q++) number[q] = number_x[(q * K * Q + r) * 32];
                const ADI3D_G(adi3d_terms) at_k = ADI3D_F(p_terms)(number, number_y, number_k, now);
                const ADI3D_G(adi3d_terms) at_p = ADI3D_F(p_terms)(number, number_y, number_p, now);
                const ADI3D_R more = v[r + 1] - before[r];
                d[r] += ADI3D_F(p_row)(2, cell_k, at_k).above * more;
                half[r] += ADI3D_G(fd_lane_apply)(ADI3D_F(p_row)(0, cell_x[32 * r], at_p), v[r], v[r + 1], v[r + 2]) +
                           ADI3D_G(fd_lane_apply)(ADI3D_F(p_row)(1, cell_y, at_p), south[r], v[r + 1], north[r]) -
                           ADI3D_F(p_row)(2, cell_p, at_p).below * more - at_p.kill * v[r + 1];
            }
        }
        if (k < from) continue;
        if (KIND == 1) {
            ADI3D_F(p_device_values_of)<K>(low + PLANE, lane, before);
            TRID_UNROLL
            for (int r = 0; r < K; r++) d[r] += before[r];
        }
        ADI3D_F(p_device_put_faces)<0, K>(h, first, face, a, b, c, d);
        ADI3D_F(p_device_solve_row)<K, Q>(alive ? n[0] : 0, a, b, c, d, shared);
        /* Rows are padded to 128 bytes: a vector that begins within one ends within it. */
        TRID_UNROLL
        for (int r = 0; r < K; r += V)
            if (alive && first + r < n[0])
                *(ADI3D_P_VECTOR *)(h.d + ADI3D_F(p_device_at)(h, first + r, j, k)) = ADI3D_G(transpose_p_pack)(d + r);
    }
}

/* Elements of shared memory for L columns of S sections of K rows: row r begins at (r + r / K) L, so that the rows that
   a warp's sections read together lie in different banks; and for faces and the solver. */
#define ADI3D_P_SLICE(K, S, L) ((S) * ((K) + 1) * (L))
#define ADI3D_P_SOLVER(S, L) (16 * (L) + (ADI3D_P_LINES_LEN(L, S) + 3) / 4 * 4)

/* Lines along y or z, L side by side in x, of S sections of K rows each; along z also what a stage ends with. A block
   marches along the third axis through the lines of its columns, of which those of the next depth - 1 are on their way.
   CHANGES: does F along the axis differ from the step's start to its end? */
template <int AXIS, int CHANGES, int K, int S, int L, int BLOCKS>
TRID_KERNEL void __launch_bounds__(S *L, CHANGES ? 1 : BLOCKS)
    ADI3D_F(p_device_lines)(const __grid_constant__ ADI3D_F(p_device) h, const __grid_constant__ ADI3D_F(p_step) step,
                            int s, int depth)
{
    enum { V = 16 / sizeof(ADI3D_R), VECTORS = L / V, SLICE = ADI3D_P_SLICE(K, S, L), ARRAYS = AXIS == 2 ? 2 : 1 };
    TRID_DYNAMIC_SHARED(memory);
    ADI3D_R *faces = (ADI3D_R *)memory + trid_p_thread() % L * 16, *shared = (ADI3D_R *)memory + 16 * L;
    ADI3D_R *ring = (ADI3D_R *)memory + ADI3D_P_SOLVER(S, L);
    const int thread = trid_p_thread(), first = K * (thread / L), mine = L * (int)blockIdx.x + thread % L;
    const int there = mine < h.t.n[0], n = there ? h.t.n[AXIS] : 0, i = there ? mine : h.t.n[0] - 1;
    const int stride = AXIS == 1 ? h.pitch : h.plane, march = AXIS == 1 ? h.plane : h.pitch, count = h.t.n[3 - AXIS];
    const int from = count * (int)blockIdx.y / (int)gridDim.y, to = count * ((int)blockIdx.y + 1) / (int)gridDim.y;
    const int about = s && step.pace.about, last = s == step.pace.stages - 1;
    const int exercise = AXIS == 2 && last ? h.problem.exercise : FD_EUROPEAN;
    const int kept_x =
        (i == 0 && h.problem.face[0][0] == FD_VALUE) || (i == h.t.n[0] - 1 && h.problem.face[0][1] == FD_VALUE);
    const int place = first / K * (K + 1) * L + thread % L;
    const ADI3D_R *w = about ? h.z : h.u;
    ADI3D_R *result = AXIS == 1 ? h.d : last ? h.u : h.z;
    const transpose_p_place to_ring = transpose_p_place_of(ring);
    auto fetch = [&](int m, int slot) {
        const int column = V * (thread % VECTORS);
        TRID_UNROLL
        for (int q = 0; q < K / V; q++) {
            const int r = thread / VECTORS + q * S * V;
            const int at = L * (int)blockIdx.x + column + r * stride + m * march;
            const int put = (int)sizeof(ADI3D_R) * (slot * ARRAYS * SLICE + (r + r / K) * L + column);
            if (m >= to || r >= h.t.n[AXIS]) continue;
            transpose_p_copy(to_ring, put, h.d + at);
            if (AXIS == 2) transpose_p_copy(to_ring, put + (int)sizeof(ADI3D_R) * SLICE, w + at);
        }
        transpose_p_commit();
    };
    /* Cells and numbers of the axis, up to a last row that nobody has. */
    ADI3D_G(fd_cell) *cells = (ADI3D_G(fd_cell) *)(ring + depth * ARRAYS * SLICE);
    ADI3D_R *numbers = (ADI3D_R *)(cells + K * S);
    auto own = [&](int r, ADI3D_R *number) {
        TRID_UNROLL
        for (int q = 0; q < ADI3D_M(p_numbers)(AXIS); q++) number[q] = numbers[q * K * S + first + r];
        return cells[first + r];
    };
    for (int e = thread; e < K * S; e += S * L) {
        const int m = e < h.t.n[AXIS] ? e : h.t.n[AXIS] - 1;
        cells[e] = h.t.cell[AXIS][m];
        TRID_UNROLL
        for (int q = 0; q < ADI3D_M(p_numbers)(AXIS); q++)
            numbers[q * K * S + e] = h.t.number[AXIS][q * h.t.padded[AXIS] + m];
    }
    for (int e = thread; e < depth * ARRAYS * SLICE; e += S * L) ring[e] = 0;
    __syncthreads();
    for (int m = 0; m < depth - 1; m++) fetch(from + m, m);
    TRID_P_LOOP
    for (int m = from, slot = 0; m < to; m++) {
        const int j = AXIS == 1 ? 0 : m, k = AXIS == 2 ? 0 : m, line = i + m * march;
        /* Lines on faces whose values have been given stay as they are. */
        const int kept = kept_x || (AXIS == 2 && ((j == 0 && h.problem.face[1][0] == FD_VALUE) ||
                                                  (j == h.t.n[1] - 1 && h.problem.face[1][1] == FD_VALUE)));
        const ADI3D_R *here = ring + slot * ARRAYS * SLICE + place;
        auto change = [&](int r) {
            return CHANGES && !kept ? ADI3D_F(p_device_change)<AXIS>(h, step, i, AXIS == 1 ? r : j, AXIS == 2 ? r : k)
                                    : 0;
        };
        ADI3D_R a[K], b[K], c[K], d[K];
        if (there && !kept)
            ADI3D_F(p_device_make_faces)<AXIS, K>(
                h, step, first, i, j, k, w + line, stride, [&](int r) { return h.d[line + r * stride] + change(r); },
                faces);
        if (depth > 2)
            TRANSPOSE_P_AWAIT(1);
        else
            TRANSPOSE_P_AWAIT(0);
        __syncthreads();
        fetch(m + depth - 1, slot > 0 ? slot - 1 : depth - 1);
        TRID_UNROLL
        for (int r = 0; r < K; r++) d[r] = here[r * L] + (CHANGES && first + r < n ? change(first + r) : 0);
        ADI3D_F(p_device_rows)<AXIS, K>(h, step, i, j, k, own, a, b, c);
        if (kept) {
            TRID_UNROLL
            for (int r = 0; r < K; r++) a[r] = c[r] = 0, b[r] = 1;
        } else if (there)
            ADI3D_F(p_device_put_faces)<AXIS, K>(h, first, faces, a, b, c, d);
        ADI3D_G(trid_block_lines_unchecked)(K, L, S, n, a, b, c, d, shared);
        TRID_UNROLL
        for (int r = 0; r < K; r++) {
            const int at = line + (first + r) * stride;
            if (AXIS == 2) d[r] += here[SLICE + r * L];
            if (first + r >= n) continue;
            if (exercise == FD_PROJECTED)
                d[r] = ADI3D_G(fd_lane_exercise)(FD_PROJECTED, step.pace.dt, h.final[at], d[r], &c[r]);
            if (exercise == FD_AMERICAN)
                d[r] = ADI3D_G(fd_lane_exercise)(FD_AMERICAN, step.pace.dt, h.final[at], d[r], &h.extra[at]);
            result[at] = d[r];
        }
        if (++slot == depth) slot = 0;
    }
}

/* ---- what happens rarely ----------------------------------------------------------------------------------------- */

/* What is not finite at point (i, j, k), at a time of the march: 0 the final values, 1 + 2 step the terms of a step,
   2 + 2 step the values after it. */
TRID_D void ADI3D_F(p_device_note)(const ADI3D_F(p_device) & h, int when, int i, int j, int k)
{
    atomicMin(h.lost, (unsigned long long)when << 32 | (unsigned long long)(i + h.t.n[0] * (j + h.t.n[1] * k)));
}

enum { ADI3D_F(p_device_threads) = 128 }; /* of the kernels from here on: a block a row */

/* The final values. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI3D_F(p_device_threads))
    ADI3D_F(p_device_begin)(const __grid_constant__ ADI3D_F(p_device) h)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    for (int i = (int)threadIdx.x; i < h.t.n[0]; i += (int)blockDim.x) {
        const int at = ADI3D_F(p_device_at)(h, i, j, k);
        const ADI3D_R value = (ADI3D_R)ADI3D_F(p_final)(&h.problem, h.parameters, &h.t, i, j, k);
        h.u[at] = value;
        if (h.final) h.final[at] = value;
        if (!ADI3D_G(trid_finite)(value)) ADI3D_F(p_device_note)(h, 0, i, j, k);
    }
}

/* The first point whose terms (when is odd) or whose value is not finite. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI3D_F(p_device_threads))
    ADI3D_F(p_device_look)(const __grid_constant__ ADI3D_F(p_device) h, const __grid_constant__ ADI3D_F(p_step) step,
                           int when)
{
    const int j = (int)blockIdx.x, k = (int)blockIdx.y;
    for (int i = (int)threadIdx.x; i < h.t.n[0]; i += (int)blockDim.x) {
        int good = 1;
        for (int end = 0; end < 2 && when % 2; end++)
            good &= ADI3D_F(p_finite)(ADI3D_F(p_terms_at)(&h.t, i, j, k, step.time[end]));
        if (when % 2 == 0) good = ADI3D_G(trid_finite)(h.u[ADI3D_F(p_device_at)(h, i, j, k)]);
        if (!good) ADI3D_F(p_device_note)(h, when, i, j, k);
    }
}

/* How many rows are not dominant in a step. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI3D_F(p_device_threads))
    ADI3D_F(p_device_count)(const __grid_constant__ ADI3D_F(p_device) h, const __grid_constant__ ADI3D_F(p_step) step)
{
    int weak = 0;
    for (int i = (int)threadIdx.x; i < h.t.n[0]; i += (int)blockDim.x)
        weak += ADI3D_F(p_weak)(&h.t, i, (int)blockIdx.x, (int)blockIdx.y, &step);
    if (weak > 0) atomicAdd(h.weak, weak);
}

/* What happens at a date. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI3D_F(p_device_threads))
    ADI3D_F(p_device_date)(const __grid_constant__ ADI3D_F(p_device) h, int date, const __grid_constant__ fd_date event)
{
    __shared__ ADI3D_R row[ADI3D_MOST];
    const int j = (int)blockIdx.x, k = (int)blockIdx.y, n = h.t.n[0], first = ADI3D_F(p_device_at)(h, 0, j, k);
    const double *x = h.t.x[0];
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) row[i] = h.u[first + i];
    __syncthreads();
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) {
        const double at[3] = {x[i], h.t.x[1][j], h.t.x[2][k]};
        ADI3D_R value = row[i];
        fd_weights from;
        if ((event.what & FD_SHIFT) && !fd_interpolate(n, x, fd_shifted(&event, x[i], x[0], x[n - 1]), &from)) {
            double sum = 0;
            for (int m = 0; m < 4; m++) sum += from.value[m] * (double)row[from.first + m];
            value = (ADI3D_R)sum;
        }
        if (event.what & FD_CHANGE_VALUES) value = (ADI3D_R)ADI3D_M(p_change)(h.parameters, date, at, (double)value);
        if ((event.what & FD_EXERCISE) && !(value > h.final[first + i])) value = h.final[first + i];
        h.u[first + i] = value;
        if (h.extra && (event.what & (FD_SHIFT | FD_CHANGE_VALUES))) h.extra[first + i] = 0;
    }
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
                                     dim3 block, size_t bytes, typename trid_p_same<P>::type... arguments)
{
    if (*error == cudaSuccess && bytes > 48 * 1024)
        *error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (*error == cudaSuccess) *error = trid_launch(kernel, grid, block, bytes, stream, arguments...);
}

/* The solves along y or z, L lines a block. */
template <int AXIS, int CHANGES, int K, int S, int L, int BLOCKS>
static inline void ADI3D_F(p_device_side_by_side)(cudaError_t *error, cudaStream_t stream, const ADI3D_F(p_device) & h,
                                                  const ADI3D_F(p_step) & step, int s)
{
    void (*kernel)(ADI3D_F(p_device), ADI3D_F(p_step), int, int) =
        ADI3D_F(p_device_lines)<AXIS, CHANGES, K, S, L, BLOCKS>;
    const size_t slot = sizeof(ADI3D_R) * (AXIS == 2 ? 2 : 1) * ADI3D_P_SLICE(K, S, L);
    const size_t solver = sizeof(ADI3D_R) * (size_t)(ADI3D_P_SOLVER(S, L) + K * S * (4 + ADI3D_M(p_numbers)(AXIS)));
    const int columns = (h.t.n[0] + L - 1) / L,
              depth = (int)(h.shared / BLOCKS - 1024 - solver) < (int)(3 * slot) ? 2 : 3;
    const int sections = adi3d_p_sections(h.t.n[3 - AXIS], columns, BLOCKS * h.processors, 1);
    ADI3D_F(p_launch)
    (error, stream, kernel, dim3((unsigned)columns, (unsigned)sections), dim3(S * L), solver + (size_t)depth * slot, h,
     step, s, depth);
}

/* Those whose lines are as long as the axis. */
template <int AXIS, int CHANGES>
static inline void ADI3D_F(p_device_along)(cudaError_t *error, cudaStream_t stream, const ADI3D_F(p_device) & h,
                                           const ADI3D_F(p_step) & step, int s)
{
    const int n = h.t.n[AXIS];
    n <= 128   ? ADI3D_F(p_device_side_by_side)<AXIS, CHANGES, ADI3D_P_SHAPE_128>(error, stream, h, step, s)
    : n <= 256 ? ADI3D_F(p_device_side_by_side)<AXIS, CHANGES, ADI3D_P_SHAPE_256>(error, stream, h, step, s)
    : n <= 512 ? ADI3D_F(p_device_side_by_side)<AXIS, CHANGES, ADI3D_P_SHAPE_512>(error, stream, h, step, s)
               : ADI3D_F(p_device_side_by_side)<AXIS, CHANGES, ADI3D_P_SHAPE_1024>(error, stream, h, step, s);
}

/* Right-hand side and solves along x by the march, of rows of Q warps; returns 0 where it needs more shared memory than
   there is. As many warps as have registers: a block of so many rows. */
template <int KIND, int Q>
static inline int ADI3D_F(p_device_march_x)(cudaError_t *error, cudaStream_t stream, const ADI3D_F(p_device) & h,
                                            const ADI3D_F(p_step) & step)
{
    enum {
        K = 8,
        MORE = sizeof(ADI3D_R) == 4 && KIND < 2 && Q < 4,
        BLOCKS = MORE && KIND == 0 && Q == 1 ? 2 : 1,
        ROWS = (MORE && BLOCKS == 1 ? 12 : 8) / Q,
        TABLES = 32 * K * Q * (4 + (int)ADI3D_M(numbers_of_x)) + 24 * Q * ROWS
    };
    const size_t bytes = sizeof(ADI3D_R) * (TABLES + 4 * (KIND ? 2 : 1) * ADI3D_P_PLANE(K, Q, ROWS));
    const int blocks = (h.t.n[1] + ROWS - 1) / ROWS, fit = h.shared / ((int)bytes + 1024) < BLOCKS ? 1 : BLOCKS;
    const int sections = adi3d_p_sections(h.t.n[2], blocks, fit * h.processors, 3);
    if (bytes > (size_t)h.shared) return 0;
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
                                                 const ADI3D_M(parameters) * parameters, ADI3D_F(p_device) * h)
{
    enum { MOST = 1024 * (sizeof(double) + sizeof(ADI3D_G(fd_cell)) + ADI3D_M(p_most) * sizeof(ADI3D_R)) + 1024 };
    FD_P_ALIGN unsigned char made[MOST];
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    ADI3D_F(p_tables) t;
    for (int d = 0; d < 3 && !status.what; d++) {
        const size_t bytes = ADI3D_F(p_axis_lay_out)(d, problem->axis[d].points, made, &t);
        status = ADI3D_F(p_axis)(problem, parameters, d, &t);
        h->t.at[d] = t.at[d];
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
                                                const ADI3D_M(parameters) * parameters, const ADI3D_F(p_device) & h)
{
    enum { SOME = 32 }; /* steps made at a time; and after so many, who wants to know of progress is waited for */
    const dim3 rows((unsigned)h.t.n[1], (unsigned)h.t.n[2]), threads(ADI3D_F(p_device_threads));
    fd_status status = fd_status_of(FD_OK, 0, -1, -1, -1, -1, -1);
    fd_step some[SOME];
    ADI3D_F(p_step) step;
    int steps = 0;
    ADI3D_R *const grid[4] = {h.u, h.d, h.z, h.extra};
    fd_schedule_part(&problem->times, 0, 0, NULL, &steps);
    for (int g = 0; g < 4; g++)
        if (grid[g] && *error == cudaSuccess)
            *error = cudaMemsetAsync(grid[g], 0, (size_t)h.elements * sizeof(ADI3D_R), stream);
    if (*error == cudaSuccess) *error = cudaMemsetAsync(h.lost, 255, sizeof *h.lost, stream);
    if (*error == cudaSuccess) *error = cudaMemsetAsync(h.weak, 0, sizeof *h.weak, stream);
    ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_begin) < Unused >, rows, threads, 0, h);
    for (int k = 0; k < steps && *error == cudaSuccess; k++) {
        if (k % SOME == 0) fd_schedule_part(&problem->times, k, SOME, some, &steps);
        status = ADI3D_F(p_step_of)(problem, parameters, &some[k % SOME], k, &step);
        if (status.what) break;
        if (problem->watched)
            ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_look) < Unused >, rows, threads, 0, h, step, 1 + 2 * k);
        for (int end = (k == 0) + (k == steps - 1); end > 0; end--)
            ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_count) < Unused >, rows, threads, 0, h, step);
        ADI3D_F(p_device_step)<Unused>(error, stream, h, step);
        if (problem->watched || k == steps - 1)
            ADI3D_F(p_launch)(error, stream, ADI3D_F(p_device_look) < Unused >, rows, threads, 0, h, step, 2 + 2 * k);
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
    unsigned long long lost = ~0ull;
    int weak = 0;
    if (*error == cudaSuccess) *error = cudaMemcpyAsync(&lost, h.lost, sizeof lost, cudaMemcpyDeviceToHost, stream);
    if (*error == cudaSuccess) *error = cudaMemcpyAsync(&weak, h.weak, sizeof weak, cudaMemcpyDeviceToHost, stream);
    if (*error == cudaSuccess) *error = cudaStreamSynchronize(stream);
    if (*error == cudaSuccess && lost != ~0ull) {
        const int when = (int)(lost >> 32), at = (int)(lost & 0xffffffffu), *n = h.t.n;
        const int what = when == 0 ? FD_FINAL_NAN : when % 2 ? FD_MODEL_NAN : FD_NOT_SOLVED;
        /* A step that could not be made comes after all that was looked at. */
        status = fd_status_of(what, 0, -1, at % n[0], at / n[0] % n[1], at / n[0] / n[1], (when + 1) / 2 - 1);
    }
    if (status.what || *error != cudaSuccess) return status;
    status.weak = weak;
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
   Leaves   the result: the call waits for the stream at its end. What is called on the host (numbers of axes and steps)
            is called before. With progress the call also waits every 32 steps: what is told is so far ahead at most.
   Returns  result->status.what: as host_worker, or FD_LAUNCH_FAILED, detail the cudaError_t
   Cost     three launches a stage. A step of Douglas' scheme reads and writes an array of the grid 7 times, one of two
            stages 15 times; American exercise 4 times more a stage (docs/adi3d.md). Some 100 KiB of stack */
template <int Unused = 0>
static inline int ADI3D_F(device)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters,
                                  cudaStream_t stream, void *memory, size_t bytes, adi3d_result *result)
{
    if (!result || !result->values || !parameters || !memory) return FD_BAD_ARGUMENT;
    fd_status status = adi3d_check(problem);
    const size_t needed = ADI3D_F(device_bytes)<Unused>(problem);
    if (!status.what && bytes < needed) status = fd_status_of(FD_NO_ROOM, 0, -1, -1, -1, -1, -1);
    if (!status.what) {
        ADI3D_F(p_device) h;
        cudaError_t error = cudaSuccess;
        ADI3D_F(p_device_lay_out)(problem, (unsigned char *)memory, &h);
        h.processors = adi3d_p_attribute(cudaDevAttrMultiProcessorCount);
        h.shared = adi3d_p_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
        status = ADI3D_F(p_device_tables)<Unused>(&error, stream, problem, parameters, &h);
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
}
#endif /* TRID_LAUNCHES */

/* ---- the one of the two that the compiler has -------------------------------------------------------------------- */

#if TRID_LAUNCHES
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
#elif TRID_HOST_SCOPE
TRID_HOST size_t ADI3D_F(bytes)(const adi3d_problem *problem)
{
    return ADI3D_F(host_bytes)(problem, adi3d_p_threads());
}
TRID_HOST int ADI3D_F(solve)(const adi3d_problem *problem, const ADI3D_M(parameters) * parameters, void *memory,
                             size_t bytes, adi3d_result *result)
{
    return ADI3D_F(host)(problem, parameters, adi3d_p_threads(), memory, bytes, result);
}
#endif

#undef ADI3D_R
#undef ADI3D_F
#undef ADI3D_G
#undef ADI3D_P_JOIN_G
#undef ADI3D_P_JOIN_G2
#endif /* ADI3D_P_REAL */
#endif /* ADI3D_MODEL */
