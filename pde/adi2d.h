/* adi2d.h - batches of two-factor PDEs of your own, marched on chip by GPUs, and on CPUs.

   MIT licence, see LICENSE. Copy the folder pde, and trid.h and the folder trid beside it.

   The equation is V_t + drift_x V_x + drift_y V_y + diffusion_x V_xx + diffusion_y V_yy + mixed V_xy = kill V, marched
   backwards from the final values by the ADI schemes of pde/fd.h. What stands in it is the user's: a model is one C
   file that includes this header twice, before and after its functions (MODEL stands for its name):

       #include "pde/adi2d.h"
       typedef struct { .. } MODEL_parameters;             a problem's; with all that the functions below need
       enum {
           MODEL_numbers_of_x, MODEL_numbers_of_y, MODEL_numbers_of_t,    how many the next three give, 0 and more
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

   The first three are called once a point of an axis, or once a step, in double precision: there belongs whatever is
   dear. ADI2D_TERMS makes of its text two functions, one a precision: real is the type, x, y and t are the numbers,
   rounded once, terms is what the equation has there, all 0 before (adi2d_terms). They are called for each point and
   step. ADI2D_HD is the only word that CUDA needs.
   What else a model may have is announced by a macro, defined before the second #include:
       ADI2D_FACE     double MODEL_face(p, axis, side, other, t): the value or slope given at a face that is FD_VALUE or
                      FD_SLOPE, side 0 or 1, at the other coordinate; without it they are 0. With a mixed term slopes
                      that change along their face cost an order in space: the mixed derivative is taken as 0 there
       ADI2D_CHANGE   double MODEL_change(p, date, x, y, value): what becomes of a value at a date (FD_CHANGE_VALUES):
                      a barrier that is watched (midway between two points: FD_MIDWAY), a coupon, a right
       ADI2D_Y_ALONE  drift_y, diffusion_y and kill depend on y alone, neither on x nor on t: a march of products then
                      takes the matrix along y apart once, for all columns and steps as long as each other
   Declarations are checked at all points, in the first, the last and another step of each row; points whose value is
   given are left out. FD_TOO_FEW_NUMBERS, FD_MIXED_UNDECLARED, FD_CHANGES_UNDECLARED (MODEL_y_changes), FD_NOT_ALONE
   (ADI2D_Y_ALONE) say which does not hold, and where; FD_ILL_POSED, where a diffusion is negative, or
   mixed^2 > 4 diffusion_x diffusion_y.

   A model has, in both precisions (_f32 and _f64):
     on the host
       MODEL_host_bytes         memory of one of the host's workers
       MODEL_host_problems      some of the problems, by the calling thread: for threads of any kind
       MODEL_host               all of them, by workers: OpenMP's threads where the program is compiled with it
     on a GPU (nvcc; tests/simt without one), by a batch, parameters and memory that are the device's
       MODEL_onchip_bytes       device memory that the next needs
       MODEL_onchip             all steps of a problem in one kernel, its grid in the shared memory of a block, or of
                                the blocks of a cluster; what fits in none goes as MODEL_coalesced
       MODEL_rung_bytes         device memory of the next two
       MODEL_naive              the grids in device memory, two kernels a stage, a thread a line: as one begins
       MODEL_coalesced          the same, with the grid twice, once in each order: neighbours in memory for all threads
   and all models share
       adi2d_check              is a batch one?
       adi2d_status_string      what a status says

   What a step costs on chip depends on what it is (adi2d_batch.kind), in arrays of shared memory and in passes that
   read and write all points: one array and two solves where no differences need to be formed (ADI2D_PRODUCTS), two
   arrays, the differences and two solves for Douglas' scheme, three arrays and all of that twice for the others.

   What they share:
     Status   of the batch: an int, FD_OK or what is wrong with it. Of each problem: an fd_status; a problem that
              is refused or fails has NaN in its results, and the others do not notice. A call that is refused leaves
              NaN and a status in all of them.
     Matrices Not pivoted. Rows of a face that would not be dominant leave couplings of the wrong sign to the old values
              (fd_lane_lag). Inner rows that are not, where a drift beats its diffusion and is taken centrally, are
              solved as they are: status.weak counts them.
     Growth   status.growth says how much the largest value has grown; beyond FD_MOST_GROWTH a march has failed
              (FD_GREW). A theta below fd_scheme_theta's, and drifts that want fd_scheme_theta_drift's, may leave finite
              nonsense below that bound.
     Memory   The caller's. Nothing is allocated, printed or kept.

   Options, defined before the header is included:
     ADI2D_HEADER   the name by which this file includes itself, if you rename it. Default: "adi2d.h". */

#ifndef ADI2D_P_REAL
#ifndef ADI2D_H
#define ADI2D_H

#include "fd.h"
#include "../trid/interleaved.h"
#include "../trid/launch.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#define ADI2D_VERSION 100 /* 100 * major + minor */

#ifndef ADI2D_HEADER
#define ADI2D_HEADER "adi2d.h"
#endif

#define ADI2D_HD TB_HD
#define ADI2D_P_JOIN2(a, b) a##_##b
#define ADI2D_P_JOIN(a, b) ADI2D_P_JOIN2(a, b)
#define ADI2D_P_JOIN3(a, b, c) a##_##b##c
#define ADI2D_P_JOIN_OF(a, b, c) ADI2D_P_JOIN3(a, b, c)

/* What the equation has at a point. */
typedef struct {
    float drift[2], diffusion[2], mixed, kill;
} adi2d_terms_f32;
typedef struct {
    double drift[2], diffusion[2], mixed, kill;
} adi2d_terms_f64;

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

/* One of the batch's problems. Pointers point to where the solver runs: into the device's memory for a GPU. */
typedef struct {
    fd_axis axis[2];         /* along x and along y */
    const double *points[2]; /* null: the points are made from axis; else these are, axis.points of them */
    int face[2][2];          /* FD_LINEAR .., of each axis at its first and its last point */
    fd_times times;          /* its theta is the scheme's, 0: fd_scheme_theta's; kinds other than FD_THETA are steps of
                                   Douglas' scheme with theta 0 and 1, and FD_UNSTABLE where those of 0 are too long */
    const fd_date *at_date;  /* what happens at each of times.date */
    int scheme;              /* FD_DOUGLAS .. */
    int coefficients;        /* FD_BOTH_ENDS .. */
    int finals;              /* FD_AT_POINTS .. */
    int kinks;               /* of FD_TOLD: 0 .. 4 */
    double kink[4];          /* increasing */
    int exercise;            /* FD_EUROPEAN .. */
    double spot[2];          /* where value and derivatives are asked for */
} adi2d_problem;

typedef struct {
    double value, dx, dy, dxx, dxy, dyy;
} adi2d_values;

/* What is known of the steps of all problems of a batch: the less they do, the less of the chip a problem takes. */
enum {
    ADI2D_TWO_STAGES, /* nothing */
    ADI2D_ONE_STAGE,  /* Douglas' scheme */
    ADI2D_PRODUCTS    /* Douglas' scheme with theta 1/2, without a Rannacher start (times.halves 0), a mixed term, or
                         exercise between dates; faces FD_LINEAR, the same coefficients throughout a step
                         (FD_MIDDLE, FD_NEW_END), all rows dominant: no differences are formed, and memory holds
                         one array (docs/adi2d.md) */
};

/* What may be wrong with a problem besides what fd_status says; ADI2D_BAD_KIND with a batch. */
enum {
    ADI2D_NO_PRODUCT = -60, /* the batch says that all steps are products, and one is not: see ADI2D_PRODUCTS */
    ADI2D_TWO_STAGED = -61, /* the batch says that all steps have one stage, and one has two */
    ADI2D_BAD_KIND = -62    /* batch.kind is unknown */
};

/* What a status says. */
TB_HD const char *adi2d_status_string(int what)
{
    return what == ADI2D_NO_PRODUCT   ? "a step is no product of factors, although batch.kind says so"
           : what == ADI2D_TWO_STAGED ? "a step has two stages, although batch.kind says one"
           : what == ADI2D_BAD_KIND   ? "unknown batch.kind"
                                      : fd_status_string(what);
}

/* A batch: what all of its problems share, and where they and their results are. */
typedef struct {
    int problems;  /* 0 and more */
    int points[2]; /* no axis of any problem has more */
    int steps;     /* no problem takes more, the halves of a Rannacher start counted (fd_schedule) */
    int dates;     /* no problem has more */
    const adi2d_problem *problem;
    fd_status *status;      /* of each */
    adi2d_values *values;   /* of each 1 + dates: at time 0, and at its dates with FD_RECORD; the others stay as they
                             were */
    void *grid;             /* null; or of each points[0] * points[1] numbers of the precision: the values at time 0,
                             point (i, j) at i + points[0] * j */
    int kind;               /* ADI2D_TWO_STAGES .. */
    double *coordinates[2]; /* null; or of each points[0], or points[1], numbers: where the grid's points are along x,
                               and along y; NaN beyond the last */
} adi2d_batch;

/* The part of adi2d_check that says how much memory a batch needs: its pointers may still be null. */
TB_HD int adi2d_p_sizes(const adi2d_batch *batch)
{
    if (!batch) return FD_BAD_ARGUMENT;
    if (batch->kind < ADI2D_TWO_STAGES || batch->kind > ADI2D_PRODUCTS) return ADI2D_BAD_KIND;
    if (batch->problems < 0 || batch->points[0] < 4 || batch->points[1] < 4 || batch->steps < 1 || batch->dates < 0 ||
        batch->points[0] > 32768 || batch->points[1] > 32768 || batch->steps > FD_P_MOST || batch->dates > FD_P_MOST)
        return FD_BAD_SIZE;
    return FD_OK;
}

/* Solves   is this a batch?
   Returns  FD_OK, FD_BAD_ARGUMENT for a null pointer, ADI2D_BAD_KIND, or FD_BAD_SIZE: a count out of range */
TB_HD int adi2d_check(const adi2d_batch *batch)
{
    int wrong = adi2d_p_sizes(batch);
    if (wrong) return wrong;
    if (batch->problems > 0 && (!batch->problem || !batch->status || !batch->values)) return FD_BAD_ARGUMENT;
    return FD_OK;
}

/* ---- a problem made ready ---------------------------------------------------------------------------------------- */

TB_HD fd_status adi2d_p_status(int what, int detail, int axis, int i, int j, int step)
{
    return fd_status_of(what, detail, axis, i, j, -1, step);
}

/* What is found out about a problem before its march. The least index at which something was wrong is kept for each
   thing that can be; what is the first of them in this order. */
enum {
    ADI2D_P_POINTS,      /* of each axis */
    ADI2D_P_NUMBERS = 2, /* likewise */
    ADI2D_P_MORE = 4,    /* of each axis and of time: numbers that are not declared */
    ADI2D_P_TIME = 7,
    ADI2D_P_FINAL,
    ADI2D_P_UNTRUE, /* something that the model declares, and does not hold at the point */
    ADI2D_P_KIND,
    ADI2D_P_FAST, /* fd_p_too_fast's number */
    ADI2D_P_FAULTS
};

typedef struct {
    int points[2], steps, weak; /* at the start, which is aligned: kernels read them at once */
    fd_status status;
    int given;                 /* the largest magnitude that the march is given: fd_p_larger */
    int wrong[3];              /* what the threads that make axes and steps met */
    int fault[ADI2D_P_FAULTS]; /* indices, FD_P_NONE where there is none */
    double longest;            /* explicit step */
    fd_map map[2];
    fd_weights at[2];
} adi2d_p_plan;

/* What a problem's own numbers say, before anything is made of them. */
TB_HD fd_status adi2d_p_check(const adi2d_batch *batch, const adi2d_problem *problem)
{
    for (int d = 0; d < 2; d++) {
        const int points = problem->axis[d].points;
        if (points < 4) return adi2d_p_status(FD_BAD_SIZE, 0, d, -1, -1, -1);
        if (points > batch->points[d]) return adi2d_p_status(FD_TOO_MANY_POINTS, points, d, -1, -1, -1);
        for (int side = 0; side < 2; side++)
            if (problem->face[d][side] < 0 || problem->face[d][side] >= FD_P_FACES)
                return adi2d_p_status(FD_BAD_FACE, 0, d, -1, -1, -1);
    }
    if (problem->times.dates > batch->dates)
        return adi2d_p_status(FD_TOO_MANY_DATES, problem->times.dates, -1, -1, -1, -1);
    const fd_plan plan = {&problem->times, problem->at_date, problem->scheme, problem->coefficients,
                          problem->finals, problem->kinks,   problem->kink,   problem->exercise};
    return fd_plan_check(&plan);
}

/* How a step goes, in each precision. */
#define ADI2D_P_TYPES(suffix)                                                                                          \
    typedef struct {                                                                                                   \
        fd_pace_##suffix of;                                                                                           \
        int product;     /* it goes as a product of factors; MODEL_p_product says how */                               \
        int open, close; /* a product: the one before was none; the one after is none, or something happens between */ \
    } adi2d_p_pace_##suffix
ADI2D_P_TYPES(f32);
ADI2D_P_TYPES(f64);
#undef ADI2D_P_TYPES

#endif /* ADI2D_H */
#endif

#ifdef ADI2D_MODEL
#ifndef ADI2D_P_REAL /* a model: what does not depend on the precision, then the body below, once a precision */

/* Macros of a user's must not reach the parameters and constants of the same names. */
#ifndef __CUDACC_RTC__ /* which does not know the pragma */
#pragma push_macro("K")
#undef K
#pragma push_macro("T")
#undef T
#pragma push_macro("ACROSS")
#undef ACROSS
#pragma push_macro("AHEAD")
#undef AHEAD
#pragma push_macro("LINES")
#undef LINES
#pragma push_macro("MOST")
#undef MOST
#pragma push_macro("SECOND")
#undef SECOND
#pragma push_macro("SET_UP")
#undef SET_UP
#pragma push_macro("THREADS")
#undef THREADS
#endif

#define ADI2D_M(stem) ADI2D_P_JOIN(ADI2D_MODEL, stem)
#ifdef ADI2D_Y_ALONE
#define ADI2D_P_ALONE 1
#else
#define ADI2D_P_ALONE 0
#endif

/* The final value at point (i, j). */
TB_HD double ADI2D_M(p_final)(const adi2d_problem *problem, const ADI2D_M(parameters) * parameters,
                              const double *const *x, const int *points, int i, int j)
{
    int index[2] = {i, j};
    return fd_final_as(problem->finals, problem->kinks, problem->kink, 2, x, points, index, ADI2D_M(payoff),
                       parameters);
}

/* What is given at a face. */
TB_HD double ADI2D_M(p_face)(const ADI2D_M(parameters) * parameters, int axis, int side, double other, double t)
{
#ifdef ADI2D_FACE
    return ADI2D_M(face)(parameters, axis, side, other, t);
#else
    (void)parameters, (void)axis, (void)side, (void)other, (void)t;
    return 0;
#endif
}

TB_HD double ADI2D_M(p_change)(const ADI2D_M(parameters) * parameters, int date, double x, double y, double value)
{
#ifdef ADI2D_CHANGE
    return ADI2D_M(change)(parameters, date, x, y, value);
#else
    (void)parameters, (void)date, (void)x, (void)y;
    return value;
#endif
}

#define ADI2D_P_REAL float
#define ADI2D_P_SUFFIX _f32
#include ADI2D_HEADER
#undef ADI2D_P_REAL
#undef ADI2D_P_SUFFIX
#define ADI2D_P_REAL double
#define ADI2D_P_SUFFIX _f64
#include ADI2D_HEADER
#undef ADI2D_P_REAL
#undef ADI2D_P_SUFFIX

#ifndef __CUDACC_RTC__
#pragma pop_macro("K")
#pragma pop_macro("T")
#pragma pop_macro("ACROSS")
#pragma pop_macro("AHEAD")
#pragma pop_macro("LINES")
#pragma pop_macro("MOST")
#pragma pop_macro("SECOND")
#pragma pop_macro("SET_UP")
#pragma pop_macro("THREADS")
#endif

#undef ADI2D_M
#undef ADI2D_MODEL
#undef ADI2D_FACE
#undef ADI2D_CHANGE
#undef ADI2D_Y_ALONE
#undef ADI2D_P_ALONE

#else /* the body, of a model in the precision at hand */

#define ADI2D_R ADI2D_P_REAL
#define ADI2D_F(stem) ADI2D_P_JOIN_OF(ADI2D_MODEL, stem, ADI2D_P_SUFFIX)
#define ADI2D_G(stem) ADI2D_P_JOIN_G(stem, ADI2D_P_SUFFIX)
#define ADI2D_P_FAR(stem) ADI2D_P_JOIN_OF(trid_cluster, stem, ADI2D_P_SUFFIX)
#define ADI2D_P_JOIN_G(a, b) ADI2D_P_JOIN_G2(a, b)
#define ADI2D_P_JOIN_G2(a, b) a##b

/* A problem made ready: where its tables are in memory. */
typedef struct {
    adi2d_p_plan *plan;
    double *x[2]; /* coordinates */
    fd_step *step;
    ADI2D_G(fd_cell) * cell[2];
    ADI2D_R *far_of[2]; /* fd_cells' */
    ADI2D_R *number[2]; /* number q of point i at [q * padded[axis] + i] */
    int padded[2];
    ADI2D_R *time; /* number q of step k, at its start (e = 0) or end (1), at [(2 k + e) * numbers + q] */
    ADI2D_G(adi2d_p_pace) * pace; /* of each step */
    ADI2D_R *final;               /* the final values, point (i, j) at i + points[0] * j */
} ADI2D_F(p_tables);

enum {
    ADI2D_F(p_of_x) = ADI2D_M(numbers_of_x),
    ADI2D_F(p_of_y) = ADI2D_M(numbers_of_y),
    ADI2D_F(p_of_t) = ADI2D_M(numbers_of_t)
};

/* Hands out memory from its start; with null, only counts. */
TB_HD size_t ADI2D_F(p_lay_out)(const adi2d_batch *batch, unsigned char *memory, ADI2D_F(p_tables) * tables)
{
    size_t used = 0, steps = (size_t)batch->steps;
    ADI2D_F(p_tables) t;
    int numbers[2] = {ADI2D_M(numbers_of_x), ADI2D_M(numbers_of_y)};
    t.plan = (adi2d_p_plan *)fd_p_at(memory, used);
    used += fd_p_round(sizeof(adi2d_p_plan));
    t.step = (fd_step *)fd_p_at(memory, used);
    used += fd_p_round(steps * sizeof(fd_step));
    t.pace = (ADI2D_G(adi2d_p_pace) *)fd_p_at(memory, used);
    used += fd_p_round(steps * sizeof(ADI2D_G(adi2d_p_pace)));
    t.time = (ADI2D_R *)fd_p_at(memory, used);
    used += fd_p_round(steps * 2 * ADI2D_M(numbers_of_t) * sizeof(ADI2D_R));
    for (int d = 0; d < 2; d++) {
        size_t points = (size_t)batch->points[d];
        t.padded[d] = fd_p_padded(batch->points[d]);
        t.x[d] = (double *)fd_p_at(memory, used);
        used += fd_p_round(points * sizeof(double));
        t.cell[d] = (ADI2D_G(fd_cell) *)fd_p_at(memory, used);
        used += fd_p_round(points * sizeof(ADI2D_G(fd_cell)));
        t.far_of[d] = (ADI2D_R *)fd_p_at(memory, used);
        used += fd_p_round(2 * sizeof(ADI2D_R));
        t.number[d] = (ADI2D_R *)fd_p_at(memory, used);
        used += fd_p_round((size_t)t.padded[d] * (size_t)numbers[d] * sizeof(ADI2D_R));
    }
    t.final = (ADI2D_R *)fd_p_at(memory, used);
    used += fd_p_round((size_t)batch->points[0] * (size_t)batch->points[1] * sizeof(ADI2D_R));
    if (tables) *tables = t;
    return used;
}

/* The terms at point (i, j) with the numbers of a time. A model may read more numbers than it declares: room is behind
   those of x and y, other tables are behind those of time. */
TB_HD ADI2D_G(adi2d_terms) ADI2D_F(p_terms)(const ADI2D_F(p_tables) * t, int i, int j, const ADI2D_R *time)
{
    ADI2D_G(adi2d_terms) terms = {{0, 0}, {0, 0}, 0, 0};
    ADI2D_R x[(int)ADI2D_M(numbers_of_x) + FD_P_ROOM], y[(int)ADI2D_M(numbers_of_y) + FD_P_ROOM];
    TB_UNROLL
    for (int q = 0; q < ADI2D_F(p_of_x); q++) x[q] = t->number[0][q * t->padded[0] + i];
    TB_UNROLL
    for (int q = 0; q < ADI2D_F(p_of_y); q++) y[q] = t->number[1][q * t->padded[1] + j];
    ADI2D_F(terms)(x, y, time, &terms);
    return terms;
}

/* The same where numbers that are not declared are 1, but 2 those of x (bit 0 of twos), of y (bit 1) and of time (bit
   3). */
TB_HD ADI2D_G(adi2d_terms)
    ADI2D_F(p_terms_beyond)(const ADI2D_F(p_tables) * t, int i, int j, const ADI2D_R *time, int twos)
{
    ADI2D_G(adi2d_terms) terms = {{0, 0}, {0, 0}, 0, 0};
    ADI2D_R x[(int)ADI2D_M(numbers_of_x) + FD_P_ROOM], y[(int)ADI2D_M(numbers_of_y) + FD_P_ROOM];
    ADI2D_R now[(int)ADI2D_M(numbers_of_t) + FD_P_ROOM];
    for (int q = 0; q < FD_P_ROOM; q++) {
        x[ADI2D_F(p_of_x) + q] = (ADI2D_R)(1 + (twos & 1));
        y[ADI2D_F(p_of_y) + q] = (ADI2D_R)(1 + (twos >> 1 & 1));
        now[ADI2D_F(p_of_t) + q] = (ADI2D_R)(1 + (twos >> 3 & 1));
    }
    for (int q = 0; q < ADI2D_F(p_of_x); q++) x[q] = t->number[0][q * t->padded[0] + i];
    for (int q = 0; q < ADI2D_F(p_of_y); q++) y[q] = t->number[1][q * t->padded[1] + j];
    for (int q = 0; q < ADI2D_F(p_of_t); q++) now[q] = time[q];
    ADI2D_F(terms)(x, y, now, &terms);
    return terms;
}

/* Of what the terms read more numbers than are declared: FD_P_FEW's bits. */
TB_HD int ADI2D_F(p_few)(const ADI2D_F(p_tables) * t, int i, int j, const ADI2D_R *time)
{
    enum { numbers = sizeof(ADI2D_G(adi2d_terms)) / sizeof(ADI2D_R), all = 1 + 2 + 8 };
    ADI2D_R ones[numbers], twos[numbers];
    int few = 0;
    ADI2D_G(adi2d_terms) terms = ADI2D_F(p_terms_beyond)(t, i, j, time, 0);
    memcpy(ones, &terms, sizeof ones);
    for (int which = all; which > 0; which = which == all ? 8 : which / 2) {
        terms = ADI2D_F(p_terms_beyond)(t, i, j, time, which);
        memcpy(twos, &terms, sizeof twos);
        const int same = ADI2D_G(fd_p_same)(numbers, ones, twos);
        if (which == all && same) return 0;
        if (which != all && !same) few |= FD_P_FEW * which;
    }
    return few;
}

/* Does what is along y, or the kill, differ? */
TB_HD int ADI2D_F(p_y_differs)(ADI2D_G(adi2d_terms) one, ADI2D_G(adi2d_terms) other)
{
    return ADI2D_G(fd_p_differ)(one.drift[1], other.drift[1]) |
           ADI2D_G(fd_p_differ)(one.diffusion[1], other.diffusion[1]) | ADI2D_G(fd_p_differ)(one.kill, other.kill);
}

/* What of the model's declarations is not true in step k at points from, from + stride .. to - 1 of row j, and is the
   problem ill-posed there: a sum of pde/fd.h's. Nothing is asked of points whose values are given. */
TB_HD int ADI2D_F(p_untrue)(const adi2d_problem *problem, const ADI2D_F(p_tables) * t, int j, int k, int from, int to,
                            int stride)
{
    const int *points = t->plan->points, last = j == points[1] - 1;
    const ADI2D_R *time = t->time + (2 * k + 1) * ADI2D_F(p_of_t);
    const int changes = !ADI2D_G(fd_p_same)(ADI2D_F(p_of_t), t->time, time);
    int untrue = 0;
    if ((j == 0 || last) && problem->face[1][last] == FD_VALUE) return 0;
    if (from == 0 && problem->face[0][0] == FD_VALUE) from += stride;
    if (to == points[0] && problem->face[0][1] == FD_VALUE) to--;
    for (int i = from; i < to; i += stride) {
        const ADI2D_G(adi2d_terms) here = ADI2D_F(p_terms)(t, i, j, time);
        untrue |= ADI2D_G(fd_p_ill_posed)(here.diffusion, here.mixed) ? FD_P_ILL_POSED : 0;
        if (!ADI2D_M(mixed)) untrue |= here.mixed < 0 || here.mixed > 0 ? FD_P_MIXED : 0;
        if (!ADI2D_M(y_changes) && changes)
            untrue |= ADI2D_F(p_y_differs)(here, ADI2D_F(p_terms)(t, i, j, t->time)) ? FD_P_CHANGES : 0;
        if (ADI2D_P_ALONE)
            untrue |= ADI2D_F(p_y_differs)(here, ADI2D_F(p_terms)(t, 0, j, t->time)) ? FD_P_NOT_ALONE << 1 : 0;
    }
    return untrue;
}

/* In which steps row j is looked at: in the first, in the last, and in one of its own, for what changes in between; but
   not where the numbers of time are those of the first. -1: in none. */
TB_HD int ADI2D_F(p_look)(const ADI2D_F(p_tables) * t, int j, int look)
{
    const int steps = t->plan->steps, k = look == 0 ? 0 : look == 1 ? steps - 1 : j % steps;
    const ADI2D_R *first = t->time + ADI2D_F(p_of_t), *time = t->time + (2 * k + 1) * ADI2D_F(p_of_t);
    return look == 0 || !ADI2D_G(fd_p_same)(ADI2D_F(p_of_t), first, time) ? k : -1;
}

/* The first thing that is not true at a point, as a status. */
TB_HD fd_status ADI2D_F(p_untrue_at)(const adi2d_problem *problem, const ADI2D_F(p_tables) * t, int i, int j)
{
    int k = 0, untrue = ADI2D_F(p_few)(t, i, j, t->time);
    for (int look = 0; look < 3 && !untrue; look++) {
        k = ADI2D_F(p_look)(t, j, look);
        if (k >= 0) untrue = ADI2D_F(p_untrue)(problem, t, j, k, i, i + 1, 1);
    }
    return fd_p_untrue(untrue, i, j, -1, k);
}

/* The row of A along an axis, without kill. */
TB_HD ADI2D_G(fd_row) ADI2D_F(p_row)(int axis, ADI2D_G(fd_cell) cell, ADI2D_G(adi2d_terms) terms)
{
    return ADI2D_G(fd_lane_row)(cell, ADI2D_M(fitting), terms.drift[axis], terms.diffusion[axis]);
}

/* The row of 1 - size A along an axis, which has half of the kill. */
TB_HD int ADI2D_F(p_matrix)(ADI2D_G(fd_row) row, int at_face, ADI2D_R size, ADI2D_R kill, ADI2D_R *a, ADI2D_R *b,
                            ADI2D_R *c)
{
    return ADI2D_G(fd_lane_matrix_at)(row, at_face, size, kill / 2, a, b, c);
}

TB_HD int ADI2D_F(p_finite)(ADI2D_G(adi2d_terms) terms)
{
    /* Halves: a sum of finite numbers must be finite. */
    double sum = 0.125 * (double)terms.drift[0] + 0.125 * (double)terms.drift[1] + 0.125 * (double)terms.mixed;
    sum += 0.125 * (double)terms.diffusion[0] + 0.125 * (double)terms.diffusion[1] + 0.125 * (double)terms.kill;
    return trid_finite_f64(sum);
}

/* Does step k go as a product of factors? With theta 1/2 and no mixed term, Douglas' scheme is
       (1 - dt A_1 / 2) (1 - dt A_2 / 2) u' = (1 + dt A_1 / 2) (1 + dt A_2 / 2) u,
   and (1 + M) / (1 - M) = 2 / (1 - M) - 1: so, from z = (1 + dt A_2 / 2) u,
       s = z / (1 - dt A_1 / 2),  y = 2 s - z,  u' = y / (1 - dt A_2 / 2),  z' = 2 u' - y = (1 + dt A_2 / 2) u'
   is a step, with no differences formed, and z' what the next one begins with if it is as long and A_2 the same. */
TB_HD int ADI2D_F(p_product)(const adi2d_problem *problem, const fd_step *step, int still, int weak)
{
    for (int f = 0; f < 4; f++)
        if (problem->face[f / 2][f % 2] != FD_LINEAR) return 0;
    return !ADI2D_M(mixed) && still && !weak && problem->exercise == FD_EUROPEAN && problem->scheme == FD_DOUGLAS &&
           step->kind == FD_THETA && step->theta > 0.5 - 1e-15 && step->theta < 0.5 + 1e-15;
}

/* Are two steps as long, but for rounding? */
TB_HD int ADI2D_F(p_as_long)(const fd_step *one, const fd_step *other)
{
    double first = one->from - one->to, second = other->from - other->to;
    return fabs(first - second) <= 1e-11 * first;
}

/* How step k goes; open and close are only right once all steps have been asked for product. */
TB_HD void ADI2D_F(p_pace)(const adi2d_problem *problem, const ADI2D_F(p_tables) * t, int k)
{
    ADI2D_G(adi2d_p_pace) *pace = &t->pace[k];
    const ADI2D_R *time = t->time + 2 * k * ADI2D_F(p_of_t);
    if (ADI2D_G(fd_pace_of)(problem->scheme, &t->step[k], &pace->of)) return;
    pace->of.still = ADI2D_G(fd_p_same)(ADI2D_F(p_of_t), time, time + ADI2D_F(p_of_t));
}

/* Are step k and the next one, of a march of products, one chain? */
TB_HD int ADI2D_F(p_chained)(const ADI2D_F(p_tables) * t, int k)
{
    if (k < 0 || k + 1 >= t->plan->steps || t->step[k].date >= 0) return 0;
    if (!t->pace[k].product || !t->pace[k + 1].product || !ADI2D_F(p_as_long)(&t->step[k], &t->step[k + 1])) return 0;
    return !ADI2D_M(y_changes) || ADI2D_G(fd_p_same)(ADI2D_F(p_of_t), t->time + 2 * k * ADI2D_F(p_of_t),
                                                     t->time + 2 * (k + 1) * ADI2D_F(p_of_t));
}

/* Is point (i, j) with these terms too fast for the explicit steps of a march? As fd_p_too_fast. */
TB_HD int ADI2D_F(p_too_fast)(const adi2d_problem *problem, const ADI2D_F(p_tables) * t, int i, int j,
                              ADI2D_G(adi2d_terms) terms)
{
    const int index[2] = {i, j};
    fd_p_rate rate = {0, 0};
    if (!(t->plan->longest > 0)) return 0;
    for (int d = 0; d < 2; d++) {
        const int at_face = index[d] == 0 || index[d] == t->plan->points[d] - 1;
        ADI2D_G(fd_p_rate_add)
        (ADI2D_F(p_row)(d, t->cell[d][index[d]], terms), at_face, ADI2D_M(mixed), problem->times.maturity, &rate);
    }
    return fd_p_too_fast(t->plan->longest, rate, (double)terms.kill);
}

/* NaN wherever problem `which` of a batch would have results, by so many threads. */
TB_HD void ADI2D_F(p_nothing)(const adi2d_batch *batch, int which, int thread, int threads)
{
    const ADI2D_R nan = ADI2D_G(fd_p_nan)();
    const double n = (double)nan;
    const adi2d_values none = {n, n, n, n, n, n};
    const size_t all = (size_t)batch->points[0] * (size_t)batch->points[1];
    adi2d_values *values = batch->values + (size_t)which * (size_t)(1 + batch->dates);
    for (int date = thread; date <= batch->dates; date += threads) values[date] = none;
    for (size_t at = (size_t)thread; at < all && batch->grid; at += (size_t)threads)
        ((ADI2D_R *)batch->grid)[(size_t)which * all + at] = nan;
    for (int d = 0; d < 2; d++)
        for (int i = thread; i < batch->points[d] && batch->coordinates[d]; i += threads)
            batch->coordinates[d][(size_t)which * (size_t)batch->points[d] + (size_t)i] = n;
}

enum { ADI2D_F(p_phases) = 11 };

/* Finds the first of what is wrong with points and steps. */
TB_HD void ADI2D_F(p_points_status)(const adi2d_problem *problem, const ADI2D_F(p_tables) * t)
{
    adi2d_p_plan *plan = t->plan;
    const double *const x[2] = {t->x[0], t->x[1]};
    for (int d = 0; d < 2 && !plan->status.what; d++) {
        int fault = plan->fault[ADI2D_P_POINTS + d];
        if (plan->wrong[d])
            plan->status = adi2d_p_status(FD_BAD_AXIS, plan->wrong[d], d, -1, -1, -1);
        else if (fault != FD_P_NONE)
            plan->status = adi2d_p_status(FD_BAD_AXIS, 1 + fault, d, -1, -1, -1);
    }
    if (!plan->status.what && plan->wrong[2])
        plan->status = plan->wrong[2] == FD_NO_ROOM ? adi2d_p_status(FD_TOO_MANY_STEPS, plan->steps, -1, -1, -1, -1)
                                                    : adi2d_p_status(FD_BAD_TIMES, plan->wrong[2], -1, -1, -1, -1);
    for (int d = 0; d < 2 && !plan->status.what; d++)
        if (fd_interpolate(plan->points[d], x[d], problem->spot[d], &plan->at[d]))
            plan->status = adi2d_p_status(FD_BAD_SPOT, 0, d, -1, -1, -1);
}

/* Fills in the model's numbers of the axes, and the cells. */
TB_HD void ADI2D_F(p_axis_numbers)(const adi2d_problem *problem, const ADI2D_M(parameters) * parameters,
                                   const ADI2D_F(p_tables) * t, int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    const double *const x[2] = {t->x[0], t->x[1]};
    double number[(int)ADI2D_F(p_of_x) + (int)ADI2D_F(p_of_y) + FD_P_ROOM];
    for (int d = 0; d < 2; d++) {
        int numbers = d ? ADI2D_F(p_of_y) : ADI2D_F(p_of_x), points = plan->points[d];
        fd_p_blank(numbers, number);
        for (int i = thread; i < t->padded[d]; i += threads) {
            int last = i < points ? i : points - 1;
            if (d == 0)
                ADI2D_M(of_x)(parameters, x[0][last], number);
            else
                ADI2D_M(of_y)(parameters, x[1][last], number);
            for (int q = 0; q < numbers; q++) {
                t->number[d][q * t->padded[d] + i] = (ADI2D_R)number[q];
                if (!ADI2D_G(trid_finite)((ADI2D_R)number[q])) fd_p_least(&plan->fault[ADI2D_P_NUMBERS + d], last);
            }
            if (i < points && ADI2D_G(fd_cell_at)(points, x[d], problem->face[d], i, &t->cell[d][i], t->far_of[d]))
                fd_p_least(&plan->fault[ADI2D_P_POINTS + d], i);
        }
        if (fd_p_written_beyond(numbers, number)) fd_p_least(&plan->fault[ADI2D_P_MORE + d], 0);
    }
}

/* Fills in the model's numbers of the steps, and how each step goes. */
TB_HD void ADI2D_F(p_step_numbers)(const adi2d_problem *problem, const ADI2D_M(parameters) * parameters,
                                   const ADI2D_F(p_tables) * t, int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    double number[(int)ADI2D_F(p_of_t) + FD_P_ROOM];
    fd_p_blank(ADI2D_F(p_of_t), number);
    for (int k = thread; k < plan->steps; k += threads) {
        for (int e = 0; e < 2; e++) {
            /* One time is one call: of two the compiler might round one otherwise. */
            if (e == 0 || problem->coefficients == FD_BOTH_ENDS)
                ADI2D_M(of_t)(parameters, fd_coefficient_time(problem->coefficients, &t->step[k], e), number);
            for (int q = 0; q < ADI2D_F(p_of_t); q++) {
                t->time[(2 * k + e) * ADI2D_F(p_of_t) + q] = (ADI2D_R)number[q];
                if (!ADI2D_G(trid_finite)((ADI2D_R)number[q])) fd_p_least(&plan->fault[ADI2D_P_TIME], k);
            }
        }
        ADI2D_F(p_pace)(problem, t, k);
    }
    if (fd_p_written_beyond(ADI2D_F(p_of_t), number)) fd_p_least(&plan->fault[ADI2D_P_MORE + 2], 0);
}

/* Fills in the final values, and finds the largest magnitude that the march is given. */
TB_HD void ADI2D_F(p_given_values)(const adi2d_problem *problem, const ADI2D_M(parameters) * parameters,
                                   const ADI2D_F(p_tables) * t, int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    const double *const x[2] = {t->x[0], t->x[1]};
    const int wide = threads < 32 ? 1 : 32; /* so many threads take neighbouring points of a line */
    int given = 0;
    for (int j = thread / wide; j < plan->points[1]; j += threads / wide)
        for (int i = thread % wide; i < plan->points[0]; i += wide) {
            const int at = i + plan->points[0] * j;
            double value = ADI2D_M(p_final)(problem, parameters, x, plan->points, i, j);
            t->final[at] = (ADI2D_R)value, given = fd_p_larger(given, value);
            if (!ADI2D_G(trid_finite)((ADI2D_R)value)) fd_p_least(&plan->fault[ADI2D_P_FINAL], at);
        }
    for (int f = 0; f < 4; f++) {
        const int d = f / 2, kind = problem->face[d][f % 2];
        const double length = kind == FD_SLOPE ? x[d][plan->points[d] - 1] - x[d][0] : 1;
        for (int i = thread; i < plan->points[1 - d] && (kind == FD_VALUE || kind == FD_SLOPE); i += threads)
            given = fd_p_larger(given, length * ADI2D_M(p_face)(parameters, d, f % 2, x[1 - d][i], 0));
    }
    fd_p_most(&plan->given, given);
}

/* Counts the rows of the first and the last step that are not dominant, and looks for points that are too fast for
   explicit steps. */
TB_HD void ADI2D_F(p_weak_rows)(const adi2d_problem *problem, const ADI2D_F(p_tables) * t, int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    const int wide = threads < 32 ? 1 : 32; /* so many threads take neighbouring points of a line */
    int weak = 0;
    for (int end = 0; end < 2; end++) {
        const int k = end ? plan->steps - 1 : 0;
        const ADI2D_R *time = t->time + (2 * k + 1) * ADI2D_F(p_of_t), size = t->pace[k].of.size;
        for (int j = thread / wide; j < plan->points[1]; j += threads / wide)
            for (int i = thread % wide; i < plan->points[0]; i += wide) {
                const int index[2] = {i, j};
                const ADI2D_G(adi2d_terms) terms = ADI2D_F(p_terms)(t, i, j, time);
                const int too_fast = ADI2D_F(p_too_fast)(problem, t, i, j, terms);
                if (too_fast) fd_p_least(&plan->fault[ADI2D_P_FAST], too_fast);
                for (int d = 0; d < 2; d++) {
                    const int first = index[d] == 0, at_face = first || index[d] == plan->points[d] - 1;
                    ADI2D_R a, b, c;
                    if (at_face && problem->face[d][!first] == FD_VALUE) continue;
                    /* A row without couplings of the wrong sign is dominant, whatever rounding says. */
                    if (!ADI2D_F(p_matrix)(ADI2D_F(p_row)(d, t->cell[d][index[d]], terms), 0, size, terms.kill, &a, &b,
                                           &c))
                        weak += !(a <= 0 && c <= 0 && 1 + size * terms.kill / 2 > 0);
                }
            }
    }
    if (weak) fd_p_add(&plan->weak, weak);
}

/* Looks for points at which something that the model declares is not true. */
TB_HD void ADI2D_F(p_untrue_points)(const adi2d_problem *problem, const ADI2D_F(p_tables) * t, int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    const int wide = threads < 32 ? 1 : 32; /* so many threads take neighbouring points of a line */
    for (int j = thread / wide; j < plan->points[1]; j += threads / wide) {
        const int n = plan->points[0], from = thread % wide, few = j % n; /* too few numbers show at any point */
        if (few % wide == from && ADI2D_F(p_few)(t, few, j, t->time))
            fd_p_least(&plan->fault[ADI2D_P_UNTRUE], few + n * j);
        for (int look = 0; look < 3; look++) {
            const int k = ADI2D_F(p_look)(t, j, look);
            if (k < 0 || !ADI2D_F(p_untrue)(problem, t, j, k, from, n, wide)) continue;
            for (int i = from; i < n; i += wide)
                if (ADI2D_F(p_untrue)(problem, t, j, k, i, i + 1, 1))
                    fd_p_least(&plan->fault[ADI2D_P_UNTRUE], i + n * j);
        }
    }
}

/* Finds the first of what is wrong with the model's numbers. */
TB_HD void ADI2D_F(p_numbers_status)(const adi2d_problem *problem, const ADI2D_F(p_tables) * t)
{
    adi2d_p_plan *plan = t->plan;
    const int *fault = plan->fault, none = FD_P_NONE, points = plan->points[0];
    int what = FD_BAD_AXIS, axis = 0;
    for (int d = 1; d >= 0; d--)
        if (fault[ADI2D_P_POINTS + d] != none) axis = d;
    plan->status =
        fault[ADI2D_P_POINTS + axis] != none ? adi2d_p_status(what, 1 + fault[ADI2D_P_POINTS + axis], axis, -1, -1, -1)
        : fault[ADI2D_P_NUMBERS] != none     ? adi2d_p_status(FD_MODEL_NAN, 0, 0, fault[ADI2D_P_NUMBERS], -1, -1)
        : fault[ADI2D_P_NUMBERS + 1] != none ? adi2d_p_status(FD_MODEL_NAN, 0, 1, -1, fault[ADI2D_P_NUMBERS + 1], -1)
        : fault[ADI2D_P_MORE] != none        ? adi2d_p_status(FD_TOO_FEW_NUMBERS, 0, 0, -1, -1, -1)
        : fault[ADI2D_P_MORE + 1] != none    ? adi2d_p_status(FD_TOO_FEW_NUMBERS, 0, 1, -1, -1, -1)
        : fault[ADI2D_P_MORE + 2] != none    ? adi2d_p_status(FD_TOO_FEW_NUMBERS, 0, -1, -1, -1, 0)
        : fault[ADI2D_P_TIME] != none        ? adi2d_p_status(FD_MODEL_NAN, 0, -1, -1, -1, fault[ADI2D_P_TIME])
        : fault[ADI2D_P_FINAL] != none
            ? adi2d_p_status(FD_FINAL_NAN, 0, -1, fault[ADI2D_P_FINAL] % points, fault[ADI2D_P_FINAL] / points, -1)
            : adi2d_p_status(FD_OK, 0, -1, -1, -1, -1);
    if (!plan->status.what && fault[ADI2D_P_UNTRUE] != none)
        plan->status = ADI2D_F(p_untrue_at)(problem, t, fault[ADI2D_P_UNTRUE] % points, fault[ADI2D_P_UNTRUE] / points);
    if (!plan->status.what && fault[ADI2D_P_FAST] != none)
        plan->status = adi2d_p_status(FD_UNSTABLE, fd_p_enough(&problem->times, fault[ADI2D_P_FAST]), -1, -1, -1, -1);
}

/* Makes a problem ready, in phases: all threads do one, a barrier, then the next. What a phase needs from the ones
   before must have been found good (plan->status), or the phase does nothing. */
TB_HD void ADI2D_F(p_prepare)(const adi2d_batch *batch, const adi2d_problem *problem,
                              const ADI2D_M(parameters) * parameters, const ADI2D_F(p_tables) * t, int phase,
                              int thread, int threads)
{
    adi2d_p_plan *plan = t->plan;
    const double *const x[2] = {t->x[0], t->x[1]};
    if (phase == 0) {
        if (thread == 0) {
            plan->status = adi2d_p_check(batch, problem);
            plan->points[0] = problem->axis[0].points, plan->points[1] = problem->axis[1].points;
            plan->steps = 0, plan->weak = 0, plan->given = 0;
            for (int f = 0; f < ADI2D_P_FAULTS; f++) plan->fault[f] = FD_P_NONE;
            const fd_times times = fd_times_of(&problem->times, problem->scheme, 2, ADI2D_M(mixed));
            plan->wrong[2] = fd_schedule(&times, batch->steps, t->step, &plan->steps);
            plan->longest = plan->wrong[2] ? 0 : fd_p_longest(plan->steps, t->step);
        }
        for (int d = 0; d < 2; d++)
            if (thread == (d + 1) * 32 % threads)
                plan->wrong[d] = problem->points[d] ? FD_OK : fd_axis_map(&problem->axis[d], &plan->map[d]);
        return;
    }
    if ((phase == 3 || phase == 6 || phase == 9) && thread > 0) return; /* one thread sums up */
    if (plan->status.what) return;
    if (phase == 1) {
        if (plan->wrong[0] || plan->wrong[1] || plan->wrong[2]) return;
        for (int d = 0; d < 2; d++)
            for (int i = thread; i < plan->points[d]; i += threads)
                t->x[d][i] = problem->points[d] ? problem->points[d][i] : fd_map_point(&plan->map[d], i);
    }
    if (phase == 2) {
        if (plan->wrong[0] || plan->wrong[1] || plan->wrong[2]) return;
        for (int d = 0; d < 2; d++)
            for (int i = thread; i < plan->points[d]; i += threads)
                if (!trid_finite_f64(x[d][i]) || (i > 0 && !(x[d][i] > x[d][i - 1])))
                    fd_p_least(&plan->fault[ADI2D_P_POINTS + d], i);
    }
    if (phase == 3) ADI2D_F(p_points_status)(problem, t);
    if (phase == 4) {
        ADI2D_F(p_axis_numbers)(problem, parameters, t, thread, threads);
        ADI2D_F(p_step_numbers)(problem, parameters, t, thread, threads);
        ADI2D_F(p_given_values)(problem, parameters, t, thread, threads);
    }
    if (phase == 5) {
        ADI2D_F(p_weak_rows)(problem, t, thread, threads);
        ADI2D_F(p_untrue_points)(problem, t, thread, threads);
    }
    if (phase == 6) ADI2D_F(p_numbers_status)(problem, t);
    if (phase == 7)
        for (int k = thread; k < plan->steps; k += threads) {
            t->pace[k].product = ADI2D_F(p_product)(problem, &t->step[k], t->pace[k].of.still, plan->weak);
            if ((batch->kind == ADI2D_PRODUCTS && !t->pace[k].product) ||
                (batch->kind == ADI2D_ONE_STAGE && t->pace[k].of.stages > 1))
                fd_p_least(&plan->fault[ADI2D_P_KIND], k);
        }
    if (phase == 8)
        for (int k = thread; k < plan->steps; k += threads) {
            t->pace[k].open = !ADI2D_F(p_chained)(t, k - 1);
            t->pace[k].close = !ADI2D_F(p_chained)(t, k);
        }
    if (phase == 9) {
        const int kind = plan->fault[ADI2D_P_KIND];
        if (kind != FD_P_NONE)
            plan->status = adi2d_p_status(batch->kind == ADI2D_PRODUCTS ? ADI2D_NO_PRODUCT : ADI2D_TWO_STAGED, 0, -1,
                                          -1, -1, kind);
        plan->status.weak = plan->weak;
    }
    if (phase == 10)
        for (int d = 0; d < 2; d++) {
            const size_t which = (size_t)(problem - batch->problem), points = (size_t)batch->points[d];
            for (int i = thread; i < batch->points[d] && batch->coordinates[d]; i += threads)
                batch->coordinates[d][which * points + (size_t)i] =
                    i < plan->points[d] ? x[d][i] : (double)ADI2D_G(fd_p_nan)();
        }
}

/* Value and derivatives at the spot, from the four by four values around it, those along x side by side. */
TB_HD adi2d_values ADI2D_F(p_values)(const adi2d_p_plan *plan, const ADI2D_R *around)
{
    const fd_weights *x = &plan->at[0], *y = &plan->at[1];
    const double *const weight[6][2] = {{x->value, y->value},     {x->slope, y->value}, {x->value, y->slope},
                                        {x->curvature, y->value}, {x->slope, y->slope}, {x->value, y->curvature}};
    const long long stride[2] = {1, 4};
    double sum[6];
    for (int k = 0; k < 6; k++) sum[k] = ADI2D_G(fd_lane_value)(2, weight[k], around, stride);
    adi2d_values values = {sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]};
    return values;
}

/* What a face adds to F along an axis: of a given slope, or its third point; e: at the step's start or end. */
TB_HD ADI2D_R ADI2D_F(p_at_face)(const adi2d_problem *problem, const ADI2D_F(p_tables) * t, int axis, int side, int i,
                                 int j, const ADI2D_R *time, ADI2D_R given, ADI2D_R next, ADI2D_R third)
{
    int kind = problem->face[axis][side];
    if (kind != FD_SLOPE && kind != FD_DEGENERATE) return 0;
    ADI2D_G(adi2d_terms) terms = ADI2D_F(p_terms)(t, i, j, time);
    if (kind == FD_SLOPE)
        return ADI2D_G(fd_lane_source)(t->cell[axis][axis ? j : i], terms.drift[axis], terms.diffusion[axis], given);
    return terms.drift[axis] * t->far_of[axis][side] * (third - next);
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

#if TB_HOST_SCOPE

/* What a worker has in memory besides the tables. Grids have a rim of one point, which is 0 and never changes, so that
   derivatives are taken without asking where: point (i, j) at (j + 1) pitch + i + 1. */
typedef struct {
    ADI2D_F(p_tables) t;
    const adi2d_problem *problem;
    const ADI2D_M(parameters) * parameters;
    int n[2], pitch;
    ADI2D_R *u, *z, *d, *g, *e;     /* values, a first stage's, differences, what a second stage begins with, what the
                                     terms along y change from a step's start to its end */
    ADI2D_R *extra;                 /* exercise's multiplier */
    ADI2D_R *tile, *solved, *upper; /* lines side by side, their solutions, their matrices */
    ADI2D_R *part[4];               /* F_0, F_1 and F_2 of a line, and F_1 at the step's end */
    ADI2D_R *spread[4];             /* the cells along x, number by number */
    ADI2D_R *given[2][2][2];        /* at the step's start and end, of each axis and side: what a face is given */
} ADI2D_F(p_host);

TB_HOST size_t ADI2D_F(p_host_lay_out)(const adi2d_batch *batch, unsigned char *memory, ADI2D_F(p_host) * host)
{
    ADI2D_F(p_host) h;
    size_t used = ADI2D_F(p_lay_out)(batch, memory, &h.t);
    size_t longest = (size_t)fd_p_padded(batch->points[batch->points[1] > batch->points[0]]);
    size_t grid = (size_t)(batch->points[0] + 2) * (size_t)(batch->points[1] + 2), line = longest * FD_P_LANES;
    ADI2D_R **grids[6], **lines[3];
    grids[0] = &h.u, grids[1] = &h.z, grids[2] = &h.d, grids[3] = &h.g, grids[4] = &h.e, grids[5] = &h.extra;
    lines[0] = &h.tile, lines[1] = &h.solved, lines[2] = &h.upper;
    for (int k = 0; k < 6; k++) {
        *grids[k] = (ADI2D_R *)fd_p_at(memory, used);
        used += fd_p_round(grid * sizeof(ADI2D_R));
    }
    for (int k = 0; k < 3; k++) {
        *lines[k] = (ADI2D_R *)fd_p_at(memory, used);
        used += fd_p_round(line * sizeof(ADI2D_R));
    }
    for (int k = 0; k < 16; k++) {
        ADI2D_R **to = k < 4 ? &h.part[k] : k < 8 ? &h.spread[k - 4] : &h.given[k / 4 % 2][k / 2 % 2][k % 2];
        *to = (ADI2D_R *)fd_p_at(memory, used);
        used += fd_p_round(longest * sizeof(ADI2D_R));
    }
    if (host) *host = h;
    return used;
}

/* F_0, F_1 and F_2 of v along the line of row j, with the numbers of a time; what the faces add is left out. */
FD_P_FLAT void ADI2D_F(p_host_parts)(const ADI2D_F(p_host) * h, const ADI2D_R *v, int j, const ADI2D_R *time,
                                     ADI2D_R *FD_P_RESTRICT f0, ADI2D_R *FD_P_RESTRICT f1, ADI2D_R *FD_P_RESTRICT f2)
{
    const ADI2D_R *FD_P_RESTRICT below = v + (size_t)j * (size_t)h->pitch + 1;
    const ADI2D_R *FD_P_RESTRICT here = below + h->pitch, *FD_P_RESTRICT above = here + h->pitch;
    const ADI2D_R *FD_P_RESTRICT s0 = h->spread[0], *FD_P_RESTRICT s1 = h->spread[1];
    const ADI2D_R *FD_P_RESTRICT s2 = h->spread[2], *FD_P_RESTRICT s3 = h->spread[3];
    const ADI2D_R *FD_P_RESTRICT numbers = h->t.number[0];
    const ADI2D_G(fd_cell) cell_y = h->t.cell[1][j];
    const size_t padded = (size_t)h->t.padded[0];
    const int n = h->n[0];
    ADI2D_R y[ADI2D_M(numbers_of_y) + 1], now[ADI2D_M(numbers_of_t) + 1];
    for (int q = 0; q < ADI2D_F(p_of_y); q++) y[q] = h->t.number[1][q * h->t.padded[1] + j];
    for (int q = 0; q < ADI2D_F(p_of_t); q++) now[q] = time[q];
    for (int i = 0; i < n; i++) {
        ADI2D_R x[ADI2D_M(numbers_of_x) + 1];
        ADI2D_G(adi2d_terms) terms = {{0, 0}, {0, 0}, 0, 0};
        ADI2D_G(fd_cell) cell;
        for (int q = 0; q < ADI2D_F(p_of_x); q++) x[q] = numbers[(size_t)q * padded + (size_t)i];
        cell.below = s0[i], cell.above = s1[i], cell.h = s2[i], cell.w = s3[i];
        ADI2D_F(terms)(x, y, now, &terms);
        f0[i] = 0;
        if (ADI2D_M(mixed)) {
            ADI2D_R nine[9] = {below[i - 1], below[i],     below[i + 1], here[i - 1], here[i],
                               here[i + 1],  above[i - 1], above[i],     above[i + 1]};
            f0[i] = terms.mixed * ADI2D_G(fd_lane_mixed)(cell, cell_y, nine);
        }
        f1[i] = ADI2D_G(fd_lane_apply)(ADI2D_F(p_row)(0, cell, terms), here[i - 1], here[i], here[i + 1]) -
                terms.kill / 2 * here[i];
        f2[i] = ADI2D_G(fd_lane_apply)(ADI2D_F(p_row)(1, cell_y, terms), below[i], here[i], above[i]) -
                terms.kill / 2 * here[i];
    }
}
/* All parts of v along the line of row j; e: at the start or the end of step k. */
TB_HOST void ADI2D_F(p_host_line)(const ADI2D_F(p_host) * h, const ADI2D_R *v, int j, int k, int e, ADI2D_R *f0,
                                  ADI2D_R *f1, ADI2D_R *f2)
{
    const ADI2D_R *time = h->t.time + (2 * k + e) * ADI2D_F(p_of_t);
    ADI2D_F(p_host_parts)(h, v, j, time, f0, f1, f2);
    const ADI2D_R *here = v + (size_t)(j + 1) * (size_t)h->pitch + 1;
    for (int side = 0; side < 2; side++) {
        int i = side ? h->n[0] - 1 : 0, in = side ? -1 : 1;
        f1[i] += ADI2D_F(p_at_face)(h->problem, &h->t, 0, side, i, j, time, h->given[e][0][side][j], here[i + in],
                                    here[i + 2 * in]);
        if (j == (side ? h->n[1] - 1 : 0))
            for (i = 0; i < h->n[0]; i++)
                f2[i] += ADI2D_F(p_at_face)(h->problem, &h->t, 1, side, i, j, time, h->given[e][1][side][i],
                                            here[i + in * h->pitch], here[i + 2 * in * h->pitch]);
    }
}

/* The matrix row at a point of a line, and its drift: own and number are the numbers of the axis and of the other. */
FD_P_INLINE void ADI2D_F(p_host_row)(int axis, int at_face, ADI2D_G(fd_cell) cell, const ADI2D_R *own,
                                     const ADI2D_R *number, size_t padded, const ADI2D_R *now, ADI2D_R size,
                                     ADI2D_R *drift, ADI2D_R *row)
{
    ADI2D_R other[ADI2D_F(p_of_x) + ADI2D_F(p_of_y) + 1];
    ADI2D_G(adi2d_terms) terms = {{0, 0}, {0, 0}, 0, 0};
    for (int q = 0; q < (axis ? ADI2D_F(p_of_x) : ADI2D_F(p_of_y)); q++) other[q] = number[(size_t)q * padded];
    ADI2D_F(terms)(axis ? other : own, axis ? own : other, now, &terms);
    ADI2D_F(p_matrix)
    (ADI2D_F(p_row)(axis, cell, terms), at_face, size, terms.kill, &row[0], &row[1], &row[2]);
    *drift = terms.drift[axis];
}

/* A row of Thomas's elimination within lines side by side. */
FD_P_INLINE void ADI2D_F(p_host_eliminate)(int axis, int lines, ADI2D_G(fd_cell) cell, const ADI2D_R *own,
                                           const ADI2D_R *FD_P_RESTRICT number, size_t padded, const ADI2D_R *now,
                                           ADI2D_R size, const ADI2D_R *FD_P_RESTRICT right,
                                           const ADI2D_R *FD_P_RESTRICT_ROW before,
                                           const ADI2D_R *FD_P_RESTRICT_ROW upper_before,
                                           ADI2D_R *FD_P_RESTRICT_ROW left, ADI2D_R *FD_P_RESTRICT_ROW upper)
{
    for (int b = 0; b < lines; b++) {
        ADI2D_R drift, row[3];
        ADI2D_F(p_host_row)(axis, 0, cell, own, number + b, padded, now, size, &drift, row);
        ADI2D_R pivot = 1 / (row[1] - row[0] * upper_before[b]);
        upper[b] = row[2] * pivot;
        left[b] = (right[b] - row[0] * before[b]) * pivot;
    }
}

FD_P_INLINE void ADI2D_F(p_host_substitute)(int lines, const ADI2D_R *FD_P_RESTRICT_ROW upper,
                                            const ADI2D_R *FD_P_RESTRICT_ROW after, ADI2D_R *FD_P_RESTRICT_ROW left)
{
    for (int b = 0; b < lines; b++) left[b] -= upper[b] * after[b];
}

/* Solves (1 - size A) y = d along `lines` lines of an axis, side by side, line first + b at column b; from the
   right-hand sides `from` into `to`. w is what y is the difference from, at faces whose value is given; numbers of the
   time at now. */
FD_P_INLINE void ADI2D_F(p_host_solve)(const ADI2D_F(p_host) * h, int axis, int lines, int first, const ADI2D_R *now_of,
                                       ADI2D_R size, const ADI2D_R *from, ADI2D_R *to, size_t row_of, const ADI2D_R *w,
                                       size_t w_row, size_t w_line)
{
    enum { MOST = ADI2D_F(p_of_x) + ADI2D_F(p_of_y) + 1 };
    const int n = h->n[axis], owns = axis ? ADI2D_F(p_of_y) : ADI2D_F(p_of_x);
    const size_t padded = (size_t)h->t.padded[axis], other_padded = (size_t)h->t.padded[1 - axis];
    const ADI2D_R *number = h->t.number[1 - axis] + first;
    ADI2D_R *upper = h->upper, own[MOST], next_own[MOST], now[ADI2D_M(numbers_of_t) + 1], drift, row[3];
    for (int q = 0; q < ADI2D_F(p_of_t); q++) now[q] = now_of[q];
    for (int k = 0; k < n; k++) {
        const size_t at = (size_t)k * row_of, before = (size_t)(k - (k > 0)) * row_of;
        const ADI2D_R *upper_before = upper + (size_t)(k - (k > 0)) * (size_t)lines;
        ADI2D_R *upper_here = upper + (size_t)k * (size_t)lines;
        const ADI2D_G(fd_cell) cell = h->t.cell[axis][k];
        for (int q = 0; q < owns; q++) own[q] = h->t.number[axis][(size_t)q * padded + (size_t)k];
        if (k > 0 && k < n - 1) {
            ADI2D_F(p_host_eliminate)
            (axis, lines, cell, own, number, other_padded, now, size, from + at, to + before, upper_before, to + at,
             upper_here);
            continue;
        }
        const int side = k > 0, kind = h->problem->face[axis][side], near_by = side ? n - 2 : 1;
        for (int q = 0; q < owns; q++) next_own[q] = h->t.number[axis][(size_t)q * padded + (size_t)near_by];
        for (int b = 0; b < lines; b++) {
            ADI2D_F(p_host_row)(axis, 1, cell, own, number + b, other_padded, now, size, &drift, row);
            ADI2D_R value = from[at + (size_t)b];
            if (kind == FD_VALUE) {
                row[0] = row[2] = 0, row[1] = 1;
                value = h->given[1][axis][side][first + b] - w[(size_t)k * w_row + (size_t)b * w_line];
            }
            if (kind == FD_DEGENERATE) {
                ADI2D_R next[3], unused;
                ADI2D_F(p_host_row)
                (axis, 0, h->t.cell[axis][near_by], next_own, number + b, other_padded, now, size, &unused, next);
                ADI2D_R third = size * drift * h->t.far_of[axis][side];
                value -= ADI2D_G(fd_lane_face_three)(third, &row[1], &row[side ? 0 : 2], next[side ? 2 : 0], next[1],
                                                     next[side ? 0 : 2]) *
                         from[(size_t)near_by * row_of + (size_t)b];
            }
            ADI2D_R a = side ? row[0] : 0, pivot = 1 / (row[1] - (side ? a * upper_before[b] : 0));
            upper_here[b] = side ? 0 : row[2] * pivot;
            to[at + (size_t)b] = (value - (side ? a * to[before + (size_t)b] : 0)) * pivot;
        }
    }
    for (int k = n - 2; k >= 0; k--) ADI2D_F(p_host_substitute)
    (lines, upper + (size_t)k * (size_t)lines, to + (size_t)(k + 1) * row_of, to + (size_t)k * row_of);
}

/* The same for so many lines as each direction takes at once, and for what is left of y's. */
#define ADI2D_P_SOLVE(name, axis, lines)                                                                               \
    FD_P_FLAT void name(const ADI2D_F(p_host) * h, int count, int first, const ADI2D_R *now, ADI2D_R size,             \
                        const ADI2D_R *from, ADI2D_R *to, size_t row, const ADI2D_R *w, size_t w_row, size_t w_line)   \
    {                                                                                                                  \
        (void)count;                                                                                                   \
        ADI2D_F(p_host_solve)(h, axis, lines, first, now, size, from, to, row, w, w_row, w_line);                      \
    }
ADI2D_P_SOLVE(ADI2D_F(p_host_x), 0, FD_P_LANES)
ADI2D_P_SOLVE(ADI2D_F(p_host_y), 1, FD_P_LANES)
ADI2D_P_SOLVE(ADI2D_F(p_host_y_rest), 1, count)
#undef ADI2D_P_SOLVE

/* All lines along x: d becomes the solution, or, for a product, to = 2 solution - d. w as above, or null. */
TB_HOST void ADI2D_F(p_host_along_x)(const ADI2D_F(p_host) * h, const ADI2D_R *now, ADI2D_R size, int product,
                                     ADI2D_R *d, const ADI2D_R *w, ADI2D_R *to)
{
    enum { LINES = FD_P_LANES };
    const int n = h->n[0];
    const size_t pitch = (size_t)h->pitch;
    ADI2D_R *tile = h->tile, *solved = h->solved;
    for (int j = 0; j < h->n[1]; j += LINES) {
        const int lines = h->n[1] - j < LINES ? h->n[1] - j : LINES;
        const size_t at = (size_t)(j + 1) * pitch + 1;
        for (int i = 0; i < n; i++)
            for (int b = 0; b < LINES; b++) tile[i * LINES + b] = b < lines ? d[at + (size_t)b * pitch + (size_t)i] : 0;
        ADI2D_F(p_host_x)(h, LINES, j, now, size, tile, solved, LINES, w ? w + at : w, 1, pitch);
        for (int b = 0; b < lines; b++) {
            const ADI2D_R *old = d + at + (size_t)b * pitch;
            ADI2D_R *new_of = to + at + (size_t)b * pitch;
            if (product)
                for (int i = 0; i < n; i++) new_of[i] = 2 * solved[i * LINES + b] - old[i];
            else
                for (int i = 0; i < n; i++) new_of[i] = solved[i * LINES + b];
        }
    }
}

/* All lines along y, from d into to. */
TB_HOST void ADI2D_F(p_host_along_y)(const ADI2D_F(p_host) * h, const ADI2D_R *now, ADI2D_R size, const ADI2D_R *d,
                                     const ADI2D_R *w, ADI2D_R *to)
{
    enum { LINES = FD_P_LANES };
    const int n = h->n[1];
    const size_t pitch = (size_t)h->pitch;
    ADI2D_R *kept = h->tile; /* lines along a face whose value is given: the solve along x has set them */
    for (int side = 0; side < 2; side++)
        if (h->problem->face[0][side] == FD_VALUE)
            for (int j = 0; j < n; j++) kept[side * n + j] = d[(size_t)(j + 1) * pitch + (size_t)(side ? h->n[0] : 1)];
    for (int i = 0; i < h->n[0]; i += LINES) {
        const int lines = h->n[0] - i < LINES ? h->n[0] - i : LINES;
        const size_t at = pitch + 1 + (size_t)i;
        (lines < LINES ? ADI2D_F(p_host_y_rest) : ADI2D_F(p_host_y))(h, lines, i, now, size, d + at, to + at, pitch,
                                                                     w ? w + at : w, pitch, 1);
    }
    for (int side = 0; side < 2; side++)
        if (h->problem->face[0][side] == FD_VALUE)
            for (int j = 0; j < n; j++) to[(size_t)(j + 1) * pitch + (size_t)(side ? h->n[0] : 1)] = kept[side * n + j];
}

/* What the faces are given at the start and the end of a step. */
TB_HOST void ADI2D_F(p_host_given)(const ADI2D_F(p_host) * h, const fd_step *step)
{
    for (int f = 0; f < 4; f++) {
        int axis = f / 2, side = f % 2, kind = h->problem->face[axis][side];
        for (int i = 0; i < h->n[1 - axis] && (kind == FD_VALUE || kind == FD_SLOPE); i++) {
            double other = h->t.x[1 - axis][i];
            h->given[0][axis][side][i] = (ADI2D_R)ADI2D_M(p_face)(h->parameters, axis, side, other, step->from);
            h->given[1][axis][side][i] = (ADI2D_R)ADI2D_M(p_face)(h->parameters, axis, side, other, step->to);
        }
    }
}

/* A step by the stages of its scheme, from u to u. */
TB_HOST void ADI2D_F(p_host_stages)(ADI2D_F(p_host) * h, int k)
{
    const ADI2D_G(adi2d_p_pace) *pace = &h->t.pace[k];
    const ADI2D_R *now = h->t.time + (2 * k + 1) * ADI2D_F(p_of_t), *base = pace->of.base[0], *again = pace->of.base[1];
    const ADI2D_R size = pace->of.size, dt = pace->of.dt;
    const size_t pitch = (size_t)h->pitch;
    const int n = h->n[0], about = pace->of.about, american = h->problem->exercise == FD_AMERICAN;
    int changes = !pace->of.still;
    ADI2D_R *f0 = h->part[0], *f1 = h->part[1], *f2 = h->part[2], *later = h->part[3], *rest = h->tile;
    for (int f = 0; f < 4; f++)
        if (h->problem->face[f / 2][f % 2] == FD_SLOPE) changes = 1;
    for (int j = 0; j < h->n[1]; j++) {
        const size_t at = (size_t)(j + 1) * pitch + 1;
        ADI2D_R *d = h->d + at, *g = h->g + at, *e = h->e + at;
        const ADI2D_R *extra = h->extra + at;
        ADI2D_F(p_host_line)(h, h->u, j, k, 0, f0, f1, f2);
        for (int i = 0; i < n; i++) {
            d[i] = base[0] * f0[i] + base[1] * (f1[i] + f2[i]);
            g[i] = again[0] * f0[i] + again[1] * (f1[i] + f2[i]);
        }
        if (changes) {
            ADI2D_F(p_host_line)(h, h->u, j, k, 1, f0, later, rest);
            for (int i = 0; i < n; i++) {
                ADI2D_R more = size * (later[i] - f1[i]);
                d[i] += more, e[i] = size * (rest[i] - f2[i]);
                if (!about) g[i] += more;
            }
            for (int side = 0; side < 2; side++) /* where the value is given nothing else acts */
                if (h->problem->face[0][side] == FD_VALUE) e[side ? n - 1 : 0] = 0;
        }
        if (american)
            for (int i = 0; i < n; i++) d[i] += dt * extra[i], g[i] += dt * extra[i];
    }
    const size_t all = pitch * (size_t)(h->n[1] + 2);
    ADI2D_R *u = h->u, *z = h->z, *d = h->d, *g = h->g, *e = h->e;
    for (int s = 0; s < pace->of.stages; s++) {
        ADI2D_R *y = s ? g : d, *w = s && about ? z : u;
        if (s > 0)
            for (int j = 0; j < h->n[1]; j++) {
                const size_t at = (size_t)(j + 1) * pitch + 1;
                ADI2D_F(p_host_line)(h, z, j, k, 1, f0, f1, f2);
                for (int i = 0; i < n; i++) {
                    g[at + (size_t)i] += again[2] * f0[i] + again[3] * (f1[i] + f2[i]);
                    if (about) g[at + (size_t)i] += u[at + (size_t)i] - z[at + (size_t)i];
                }
            }
        ADI2D_F(p_host_along_x)(h, now, size, 0, y, w, y);
        if (changes && !(s && about))
            for (size_t i = 0; i < all; i++) y[i] += e[i];
        ADI2D_R *change = s ? d : z, *result = s == pace->of.stages - 1 ? u : z;
        ADI2D_F(p_host_along_y)(h, now, size, y, w, change);
        for (size_t i = 0; i < all; i++) result[i] = w[i] + change[i];
    }
}

/* A step as a product of factors; z lies in h->z between its steps, u in h->u when it closes. */
TB_HOST void ADI2D_F(p_host_product)(ADI2D_F(p_host) * h, int k)
{
    const ADI2D_G(adi2d_p_pace) *pace = &h->t.pace[k];
    const ADI2D_R *now = h->t.time + (2 * k + 1) * ADI2D_F(p_of_t), size = pace->of.size;
    const size_t pitch = (size_t)h->pitch;
    const int n = h->n[0];
    if (pace->open)
        for (int j = 0; j < h->n[1]; j++) {
            const size_t at = (size_t)(j + 1) * pitch + 1;
            ADI2D_R *f2 = h->part[2];
            ADI2D_F(p_host_line)(h, h->u, j, k, 1, h->part[0], h->part[1], f2);
            for (int i = 0; i < n; i++) h->z[at + (size_t)i] = h->u[at + (size_t)i] + size * f2[i];
        }
    ADI2D_F(p_host_along_x)(h, now, size, 1, h->z, NULL, h->d);
    ADI2D_F(p_host_along_y)(h, now, size, h->d, NULL, h->u);
    if (!pace->close)
        for (int j = 0; j < h->n[1]; j++) {
            const size_t at = (size_t)(j + 1) * pitch + 1;
            ADI2D_R *FD_P_RESTRICT z = h->z + at;
            const ADI2D_R *FD_P_RESTRICT u = h->u + at, *FD_P_RESTRICT d = h->d + at;
            for (int i = 0; i < n; i++) z[i] = 2 * u[i] - d[i];
        }
}

/* What exercise does after a step. */
TB_HOST void ADI2D_F(p_host_exercise)(ADI2D_F(p_host) * h, ADI2D_R dt, int kind)
{
    for (int j = 0; j < h->n[1]; j++) {
        const size_t at = (size_t)(j + 1) * (size_t)h->pitch + 1;
        const ADI2D_R *final = h->t.final + (size_t)j * (size_t)h->n[0];
        ADI2D_R *u = h->u + at, *extra = h->extra + at;
        for (int i = 0; i < h->n[0]; i++) u[i] = ADI2D_G(fd_lane_exercise)(kind, dt, final[i], u[i], &extra[i]);
    }
}

TB_HOST adi2d_values ADI2D_F(p_host_values)(const ADI2D_F(p_host) * h)
{
    const fd_weights *at = h->t.plan->at;
    ADI2D_R around[16];
    for (int k = 0; k < 16; k++)
        around[k] = h->u[(size_t)(at[1].first + k / 4 + 1) * (size_t)h->pitch + (size_t)(at[0].first + k % 4 + 1)];
    return ADI2D_F(p_values)(h->t.plan, around);
}

/* What happens at a date, of which the plan is told how much a change adds. */
TB_HOST void ADI2D_F(p_host_date)(ADI2D_F(p_host) * h, int date, adi2d_values *values)
{
    const fd_date *event = &h->problem->at_date[date];
    const size_t pitch = (size_t)h->pitch;
    const double *x = h->t.x[0];
    if (event->what & FD_SHIFT)
        for (int i = 0; i < h->n[0]; i++) {
            fd_weights from;
            if (fd_interpolate(h->n[0], x, fd_shifted(event, x[i], x[0], x[h->n[0] - 1]), &from)) continue;
            for (int j = 0; j < h->n[1]; j++) {
                const size_t at = (size_t)(j + 1) * pitch + 1;
                double sum = 0;
                for (int m = 0; m < 4; m++) sum += from.value[m] * (double)h->u[at + (size_t)(from.first + m)];
                h->d[at + (size_t)i] = (ADI2D_R)sum;
            }
        }
    for (int j = 0; j < h->n[1]; j++)
        for (int i = 0; i < h->n[0]; i++) {
            const size_t at = (size_t)(j + 1) * pitch + (size_t)i + 1;
            ADI2D_R final = h->t.final[(size_t)j * (size_t)h->n[0] + (size_t)i];
            if (event->what & FD_SHIFT) h->u[at] = h->d[at];
            if (event->what & FD_CHANGE_VALUES) {
                const double before = (double)h->u[at];
                h->u[at] = (ADI2D_R)ADI2D_M(p_change)(h->parameters, date, x[i], h->t.x[1][j], before);
                fd_p_most(&h->t.plan->given, fd_p_larger(0, fd_p_added(before, (double)h->u[at])));
            }
            h->u[at] = ADI2D_G(fd_lane_at_date)(event->what, h->problem->exercise, final, h->u[at], &h->extra[at]);
        }
    if (event->what & FD_RECORD) values[1 + date] = ADI2D_F(p_host_values)(h);
}

/* The first point that is not finite, i + n[0] * j; or -1, and in *largest the largest magnitude. */
TB_HOST int ADI2D_F(p_host_lost)(const ADI2D_F(p_host) * h, int *largest)
{
    *largest = 0;
    for (int j = 0; j < h->n[1]; j++)
        for (int i = 0; i < h->n[0]; i++) {
            const ADI2D_R value = h->u[(size_t)(j + 1) * (size_t)h->pitch + (size_t)i + 1];
            if (!ADI2D_G(trid_finite)(value)) return i + h->n[0] * j;
            *largest = fd_p_larger(*largest, (double)value);
        }
    return -1;
}

/* Marches a problem that is ready. Nothing is watched; a second march, after one that was lost, looks after each step
   for the first number that is not finite, the model's before the values. */
TB_HOST fd_status ADI2D_F(p_host_march)(ADI2D_F(p_host) * h, int watched, adi2d_values *values)
{
    const adi2d_p_plan *plan = h->t.plan;
    int largest;
    const size_t grid = (size_t)h->pitch * (size_t)(h->n[1] + 2) * sizeof(ADI2D_R);
    ADI2D_R *all[6] = {h->u, h->z, h->d, h->g, h->e, h->extra};
    for (int k = 0; k < 6; k++) memset(all[k], 0, grid);
    for (int j = 0; j < h->n[1]; j++)
        memcpy(h->u + (size_t)(j + 1) * (size_t)h->pitch + 1, h->t.final + (size_t)j * (size_t)h->n[0],
               (size_t)h->n[0] * sizeof(ADI2D_R));
    for (int k = 0; k < plan->steps; k++) {
        const ADI2D_G(adi2d_p_pace) *pace = &h->t.pace[k];
        for (size_t at = 0; watched && at < (size_t)h->n[0] * (size_t)h->n[1] * 2; at++) {
            int i = (int)(at / 2 % (size_t)h->n[0]), j = (int)(at / 2 / (size_t)h->n[0]);
            const ADI2D_R *time = h->t.time + (2 * k + (int)(at % 2)) * ADI2D_F(p_of_t);
            if (!ADI2D_F(p_finite)(ADI2D_F(p_terms)(&h->t, i, j, time)))
                return adi2d_p_status(FD_MODEL_NAN, 0, -1, i, j, k);
        }
        if (pace->product) {
            ADI2D_F(p_host_product)(h, k);
        } else {
            ADI2D_F(p_host_given)(h, &h->t.step[k]);
            ADI2D_F(p_host_stages)(h, k);
        }
        if (h->problem->exercise != FD_EUROPEAN) ADI2D_F(p_host_exercise)(h, pace->of.dt, h->problem->exercise);
        if (pace->of.date >= 0 && h->problem->at_date) ADI2D_F(p_host_date)(h, pace->of.date, values);
        int lost = watched ? ADI2D_F(p_host_lost)(h, &largest) : -1;
        if (lost >= 0) return adi2d_p_status(FD_NOT_SOLVED, 0, -1, lost % h->n[0], lost / h->n[0], k);
    }
    int lost = ADI2D_F(p_host_lost)(h, &largest);
    if (lost >= 0) return adi2d_p_status(FD_NOT_SOLVED, 0, -1, lost % h->n[0], lost / h->n[0], plan->steps - 1);
    fd_status status = adi2d_p_status(FD_OK, 0, -1, -1, -1, -1);
    fd_p_grown(&status, plan->given, largest);
    return status;
}

/* One problem. */
TB_HOST void ADI2D_F(p_host_problem)(const adi2d_batch *batch, const ADI2D_M(parameters) * parameters, int which,
                                     void *memory)
{
    ADI2D_F(p_host) h;
    ADI2D_F(p_host_lay_out)(batch, (unsigned char *)memory, &h);
    h.problem = &batch->problem[which], h.parameters = &parameters[which];
    for (int phase = 0; phase < ADI2D_F(p_phases); phase++)
        ADI2D_F(p_prepare)(batch, h.problem, h.parameters, &h.t, phase, 0, 1);
    adi2d_p_plan *plan = h.t.plan;
    adi2d_values *values = batch->values + (size_t)which * (size_t)(1 + batch->dates);
    ADI2D_R *grid = (ADI2D_R *)batch->grid;
    const size_t row = (size_t)batch->points[0];
    if (grid) grid += (size_t)which * row * (size_t)batch->points[1];
    h.n[0] = plan->points[0], h.n[1] = plan->points[1], h.pitch = h.n[0] + 2;
    if (!plan->status.what) {
        for (int i = 0; i < h.n[0]; i++) {
            ADI2D_G(fd_cell) cell = h.t.cell[0][i];
            h.spread[0][i] = cell.below, h.spread[1][i] = cell.above, h.spread[2][i] = cell.h, h.spread[3][i] = cell.w;
        }
        int weak = plan->weak;
        plan->status = ADI2D_F(p_host_march)(&h, 0, values);
        if (plan->status.what) plan->status = ADI2D_F(p_host_march)(&h, 1, values);
        plan->status.weak = weak;
    }
    batch->status[which] = plan->status;
    if (plan->status.what) {
        ADI2D_F(p_nothing)(batch, which, 0, 1);
        return;
    }
    values[0] = ADI2D_F(p_host_values)(&h);
    for (int j = 0; j < h.n[1] && grid; j++)
        memcpy(grid + (size_t)j * row, h.u + (size_t)(j + 1) * (size_t)h.pitch + 1, (size_t)h.n[0] * sizeof(ADI2D_R));
}

/* What a call that is refused leaves: its status in each of its problems, and NaN where the batch says how much. */
TB_HOST int ADI2D_F(p_host_refuse)(const adi2d_batch *batch, int from, int to, int wrong)
{
    for (int which = from; which < to && batch->status; which++)
        batch->status[which] = adi2d_p_status(wrong, 0, -1, -1, -1, -1);
    for (int which = from; which < to && batch->values && !adi2d_p_sizes(batch); which++)
        ADI2D_F(p_nothing)(batch, which, 0, 1);
    return wrong;
}

/* Solves   how much memory one of the host's workers needs
   Returns  bytes, for which its pointers may still be null; 0 for a batch that is none (adi2d_check) */
TB_HOST size_t ADI2D_F(host_bytes)(const adi2d_batch *batch)
{
    return adi2d_p_sizes(batch) ? 0 : ADI2D_F(p_host_lay_out)(batch, NULL, NULL);
}

/* What is wrong with a call that is to solve so many problems, each worker with so much memory. */
TB_HOST int ADI2D_F(p_host_check)(const adi2d_batch *batch, const ADI2D_M(parameters) * parameters, int problems,
                                  const void *memory, size_t bytes)
{
    const int wrong = adi2d_check(batch);
    if (wrong || problems < 1) return wrong;
    if (!parameters || !memory) return FD_BAD_ARGUMENT;
    return bytes < ADI2D_F(host_bytes)(batch) ? FD_NO_ROOM : FD_OK;
}

/* Solves   problems from .. to - 1 of the batch, in the calling thread
   Needs    parameters of each problem of the batch; memory of host_bytes, of the thread's own, aligned as malloc does;
            0 <= from, to <= batch->problems
   Leaves   status and values, the grid's values and coordinates; where it is refused its status in each of these
            problems, and NaN
   Returns  FD_OK, or as adi2d_check; FD_BAD_ARGUMENT for a null pointer; FD_NO_ROOM: less memory than host_bytes;
            FD_BAD_SIZE for a range that is none, of which no problem is touched
   Cost     a step of Douglas' scheme two solves of three to four loops each, vectorised across lines */
TB_HOST int ADI2D_F(host_problems)(const adi2d_batch *batch, const ADI2D_M(parameters) * parameters, int from, int to,
                                   void *memory, size_t bytes)
{
    if (!batch) return FD_BAD_ARGUMENT;
    if (from < 0 || to > batch->problems) return FD_BAD_SIZE;
    const int wrong = ADI2D_F(p_host_check)(batch, parameters, to - from, memory, bytes);
    if (wrong) return ADI2D_F(p_host_refuse)(batch, from, to, wrong);
    for (int which = from; which < to; which++) ADI2D_F(p_host_problem)(batch, parameters, which, memory);
    return FD_OK;
}

/* Solves   all problems of the batch: by `workers` threads of OpenMP, where the program is compiled with it, else one
            after the other
   Needs    memory of workers * host_bytes
   Leaves   as host_problems
   Returns  as host_problems; FD_BAD_SIZE for workers < 1 */
TB_HOST int ADI2D_F(host)(const adi2d_batch *batch, const ADI2D_M(parameters) * parameters, int workers, void *memory,
                          size_t bytes)
{
    if (!batch) return FD_BAD_ARGUMENT;
    const int problems = batch->problems;
    const int wrong =
        workers < 1 ? FD_BAD_SIZE : ADI2D_F(p_host_check)(batch, parameters, problems, memory, bytes / (size_t)workers);
    if (wrong) return ADI2D_F(p_host_refuse)(batch, 0, problems, wrong);
#ifdef _OPENMP
    const size_t each = ADI2D_F(host_bytes)(batch);
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers)
    for (int which = 0; which < problems; which++) ADI2D_F(p_host_problem)
    (batch, parameters, which, (unsigned char *)memory + each * (size_t)omp_get_thread_num());
#else
    for (int which = 0; which < problems; which++) ADI2D_F(p_host_problem)(batch, parameters, which, memory);
#endif
    return FD_OK;
}

#endif /* TB_HOST_SCOPE */

/* ---- on chip ----------------------------------------------------------------------------------------------------- */

/* A problem's grid lies in the shared memory of a cluster of blocks: block r holds rows r each .. (r + 1) each - 1 of
   y, each a multiple of K. Along x a line is a row, K neighbouring points a lane, width lanes a line; a block solves
   its own rows. Along y neighbouring threads take neighbouring columns, K points of them, sections threads a line; a
   block solves its share of the columns, through the others' shared memory where their rows are.

   Point i of a row is at place(i): pieces of 16 bytes, the order of eight changing from group of eight to group of
   eight, so that lanes that read theirs at once, K points apart, meet no bank twice, nor do lanes at neighbouring
   points (tests/test_banks.c). */
#if TB_DEVICE_SCOPES

enum { ADI2D_F(p_piece) = 16 / sizeof(ADI2D_R) }; /* elements of one */

typedef struct FD_P_ALIGN {
    ADI2D_R v[16 / sizeof(ADI2D_R)];
} ADI2D_F(p_pieces);

TB_HD int ADI2D_F(p_place)(int i)
{
    return i ^ ((i / (8 * ADI2D_F(p_piece)) & 7) * ADI2D_F(p_piece));
}

/* What happens seldom stays out of the march: a call of its own. */
#if defined __CUDACC__ || defined __CUDACC_RTC__
#define ADI2D_P_RARE static __device__ __noinline__
#else
#define ADI2D_P_RARE TB_D
#endif

/* What a launch is. */
typedef struct {
    adi2d_batch batch;
    const ADI2D_M(parameters) * parameters;
    unsigned char *memory;
    size_t bytes;                             /* of a problem */
    int width, sections, each, pitch, arrays; /* pitch: elements between rows; arrays of the grid */
} ADI2D_F(p_launch);

/* What a block knows of its problem, in its shared memory. Arrays are told by where they begin in the block's dynamic
   shared memory, bytes from `memory`, so that the compiler sees that they lie there. */
typedef struct {
    ADI2D_F(p_tables) t;
    const adi2d_problem *problem;
    const ADI2D_M(parameters) * parameters;
    ADI2D_R *extra, *final;                   /* in device memory: of the block's rows, points[0] apart */
    int n[2], rank, size, first, rows, share; /* the block's rows, from the first; columns of each block */
    int width, sections, each, pitch;
    int u, z, g;   /* arrays of the block: values, differences or a first stage's values, what a second begins with */
    int cell[2];   /* cell i of an axis at [i + i / K]; beyond the last they are 0, which makes identity rows */
    int number[2]; /* of x at [q pitch + place(i)], of y at [q K sections + j] */
    int exchange;  /* of the solve along y */
    int factors;   /* of the matrix along y, taken apart: each section's, then each reduced row's; steps of PCR */
    int pace, now; /* of the step: its pace, the numbers of its start, then of its end */
    int bytes;     /* all of it */
    int given;     /* the plan's, and what changes at dates add in the block's rows */
} ADI2D_F(p_chip);

/* Hands out a block's shared memory. */
TB_HD void ADI2D_F(p_chip_lay_out)(int K, const ADI2D_F(p_launch) * launch, int threads, ADI2D_F(p_chip) * chip)
{
    const int rim = launch->arrays > 1 ? 2 : 0; /* rows of other blocks */
    size_t used = 0, array = fd_p_round((size_t)(launch->each + rim) * (size_t)launch->pitch * sizeof(ADI2D_R));
    int *const arrays[3] = {&chip->u, &chip->z, &chip->g}, lines = threads / launch->sections;
    for (int k = 0; k < 3; k++) *arrays[k] = (int)(array * (size_t)(k < launch->arrays ? k : launch->arrays - 1));
    used += array * (size_t)launch->arrays;
    for (int d = 0; d < 2; d++) {
        int points = K * (d ? launch->sections : launch->width), numbers = d ? ADI2D_F(p_of_y) : ADI2D_F(p_of_x);
        chip->cell[d] = (int)used;
        used += fd_p_round((size_t)(points + points / K) * sizeof(ADI2D_G(fd_cell)));
        chip->number[d] = (int)used;
        used += fd_p_round((size_t)(d ? points : launch->pitch) * (size_t)numbers * sizeof(ADI2D_R));
    }
    chip->exchange = (int)used;
    used +=
        fd_p_round((size_t)TRID_INTERLEAVED_LEN(lines, launch->sections, 128 / (int)sizeof(ADI2D_R)) * sizeof(ADI2D_R));
    chip->factors = (int)used;
    if (ADI2D_P_ALONE && launch->arrays == 1)
        used += fd_p_round((size_t)(launch->sections * (5 * K + 12) + 2) * sizeof(ADI2D_R));
    chip->pace = (int)used;
    used += fd_p_round(sizeof(ADI2D_G(adi2d_p_pace)));
    chip->now = (int)used;
    used += fd_p_round((2 * ADI2D_M(numbers_of_t) + 1) * sizeof(ADI2D_R));
    chip->bytes = (int)used;
}

/* All threads of the cluster wait for each other. */
TB_D void ADI2D_F(p_meet)(const ADI2D_F(p_chip) * h)
{
    if (h->size > 1)
        trid_cluster_sync();
    else
        __syncthreads();
}

/* An array of the block. */
TB_D ADI2D_R *ADI2D_F(p_own)(unsigned char *memory, int array)
{
    return (ADI2D_R *)(memory + array);
}

/* A cell of an axis. */
TB_D ADI2D_G(fd_cell) ADI2D_F(p_cell_of)(const ADI2D_F(p_chip) * h, unsigned char *memory, int axis, int index)
{
    return ((const ADI2D_G(fd_cell) *)(memory + h->cell[axis]))[index];
}

/* Row j of an array, wherever it is, from point i on; and a number of it. */
TB_D trid_cluster_place ADI2D_F(p_row_of)(const ADI2D_F(p_chip) * h, unsigned char *memory, int array, int i, int j)
{
    int owner = j / h->each, at = (j - owner * h->each) * h->pitch + ADI2D_F(p_place)(i);
    return trid_cluster_map(memory + array, owner) + at * (int)sizeof(ADI2D_R);
}
TB_D ADI2D_R ADI2D_F(p_value_of)(const ADI2D_F(p_chip) * h, unsigned char *memory, int array, int i, int j)
{
    return ADI2D_P_FAR(load)(ADI2D_F(p_row_of)(h, memory, array, i, j));
}

/* Piece c of the K points from i = first of a row. */
TB_D ADI2D_F(p_pieces) * ADI2D_F(p_piece_of)(ADI2D_R *row, int first, int c)
{
    return (ADI2D_F(p_pieces) *)(row + (ADI2D_F(p_place)(first) ^ (c * ADI2D_F(p_piece))));
}

/* Numbers of x at column i, or of y at row j. */
TB_D void ADI2D_F(p_numbers_of_x)(const ADI2D_F(p_chip) * h, unsigned char *memory, int i, ADI2D_R *number)
{
    const ADI2D_R *from = ADI2D_F(p_own)(memory, h->number[0]) + ADI2D_F(p_place)(i);
    TB_UNROLL
    for (int q = 0; q < ADI2D_F(p_of_x); q++) number[q] = from[q * h->pitch];
}
TB_D void ADI2D_F(p_numbers_of_y)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory, int j, ADI2D_R *number)
{
    const ADI2D_R *from = ADI2D_F(p_own)(memory, h->number[1]) + j;
    TB_UNROLL
    for (int q = 0; q < ADI2D_F(p_of_y); q++) number[q] = from[q * K * h->sections];
}

TB_D ADI2D_G(adi2d_terms)
    ADI2D_F(p_chip_terms)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory, int i, int j, const ADI2D_R *time)
{
    ADI2D_G(adi2d_terms) terms = {{0, 0}, {0, 0}, 0, 0};
    ADI2D_R x[ADI2D_M(numbers_of_x) + 1], y[ADI2D_M(numbers_of_y) + 1];
    ADI2D_F(p_numbers_of_x)(h, memory, i, x);
    ADI2D_F(p_numbers_of_y)(K, h, memory, j, y);
    ADI2D_F(terms)(x, y, time, &terms);
    return terms;
}

/* A u along an axis, from the three values there: without what its faces add. */
TB_D ADI2D_R ADI2D_F(p_along)(int axis, ADI2D_G(fd_cell) cell, ADI2D_G(adi2d_terms) terms, ADI2D_R low, ADI2D_R here,
                              ADI2D_R high)
{
    return ADI2D_G(fd_lane_apply)(ADI2D_F(p_row)(axis, cell, terms), low, here, high) - terms.kill / 2 * here;
}

/* The row of a face at (i, j), which its thread has as row k of its own: made dominant, given its value, or rid of its
   third unknown. near_by is the right-hand side of its neighbour, w the value that the solution is the difference
   from. */
TB_D void ADI2D_F(p_chip_face)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory, int axis, int side, int i,
                               int j, int k, const ADI2D_R *now, double t, ADI2D_R near_by, ADI2D_R w, ADI2D_R *a,
                               ADI2D_R *b, ADI2D_R *c, ADI2D_R *d)
{
    const int kind = h->problem->face[axis][side], at = axis ? j : i, next = at + (side ? -1 : 1);
    const ADI2D_R size = ((const ADI2D_G(adi2d_p_pace) *)(memory + h->pace))->of.size;
    const ADI2D_G(adi2d_terms) terms = ADI2D_F(p_chip_terms)(K, h, memory, i, j, now);
    ADI2D_R row[3], other[3], value = 0;
    ADI2D_F(p_matrix)
    (ADI2D_F(p_row)(axis, ADI2D_F(p_cell_of)(h, memory, axis, at + at / K), terms), 1, size, terms.kill, &row[0],
     &row[1], &row[2]);
    TB_UNROLL
    for (int m = 0; m < K; m++)
        if (m == k) value = d[m];
    if (kind == FD_VALUE) {
        row[0] = row[2] = 0, row[1] = 1;
        value = (ADI2D_R)ADI2D_M(p_face)(h->parameters, axis, side, h->t.x[1 - axis][axis ? i : j], t) - w;
    }
    if (kind == FD_DEGENERATE) {
        const ADI2D_G(adi2d_terms) beside = ADI2D_F(p_chip_terms)(K, h, memory, axis ? i : next, axis ? next : j, now);
        ADI2D_F(p_matrix)
        (ADI2D_F(p_row)(axis, ADI2D_F(p_cell_of)(h, memory, axis, next + next / K), beside), 0, size, beside.kill,
         &other[0], &other[1], &other[2]);
        value -= ADI2D_G(fd_lane_face_three)(size * terms.drift[axis] * h->t.far_of[axis][side], &row[1],
                                             &row[side ? 0 : 2], other[side ? 2 : 0], other[1], other[side ? 0 : 2]) *
                 near_by;
    }
    TB_UNROLL
    for (int m = 0; m < K; m++)
        if (m == k) a[m] = row[0], b[m] = row[1], c[m] = row[2], d[m] = value;
}

/* What a face adds to F along its axis at (i, j), with v in `array`. */
ADI2D_P_RARE ADI2D_R ADI2D_F(p_chip_source)(const ADI2D_F(p_chip) * h, unsigned char *memory, int array, int axis,
                                            int side, int i, int j, const ADI2D_R *now, double t)
{
    const int kind = h->problem->face[axis][side], in = side ? -1 : 1;
    ADI2D_R given = 0, next = 0, third = 0;
    if (kind == FD_SLOPE)
        given = (ADI2D_R)ADI2D_M(p_face)(h->parameters, axis, side, h->t.x[1 - axis][axis ? i : j], t);
    if (kind == FD_DEGENERATE) {
        next = ADI2D_F(p_value_of)(h, memory, array, axis ? i : i + in, axis ? j + in : j);
        third = ADI2D_F(p_value_of)(h, memory, array, axis ? i : i + 2 * in, axis ? j + 2 * in : j);
    }
    return ADI2D_F(p_at_face)(h->problem, &h->t, axis, side, i, j, now, given, next, third);
}

/* Does anything along the axes change from the step's start to its end: coefficients, or a slope that is given? */
TB_D int ADI2D_F(p_chip_changes)(const ADI2D_F(p_chip) * h, unsigned char *memory)
{
    int changes = !((const ADI2D_G(adi2d_p_pace) *)(memory + h->pace))->of.still;
    for (int f = 0; f < 4; f++) changes |= h->problem->face[f / 2][f % 2] == FD_SLOPE;
    return changes;
}

/* The rows of other blocks around those of this one, to behind its own: `array` has two more. */
TB_D void ADI2D_F(p_chip_rim)(const ADI2D_F(p_chip) * h, unsigned char *memory, int array)
{
    if (h->size == 1) return;
    ADI2D_R *rim = ADI2D_F(p_own)(memory, array) + h->each * h->pitch;
    for (int at = trid_block_thread(); at < 2 * h->n[0] && h->rows > 0; at += trid_block_threads()) {
        const int after = at >= h->n[0], i = at - after * h->n[0], j = after ? h->first + h->rows : h->first - 1;
        if (j >= 0 && j < h->n[1])
            rim[after * h->pitch + ADI2D_F(p_place)(i)] = ADI2D_F(p_value_of)(h, memory, array, i, j);
    }
    __syncthreads();
}

/* The solve along x of stage s, with what it begins with: from u, in the first stage, or from z. */
TB_D void ADI2D_F(p_chip_x)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory, int s, const fd_step *step)
{
    const ADI2D_G(adi2d_p_pace) *pace = (const ADI2D_G(adi2d_p_pace) *)(memory + h->pace);
    const ADI2D_R *start = ADI2D_F(p_own)(memory, h->now), *end = start + ADI2D_F(p_of_t), size = pace->of.size;
    const int width = h->width, lane = trid_block_thread() & (width - 1),
              group = trid_block_thread() >> trid_log2(width);
    const int groups = trid_block_threads() >> trid_log2(width), from = K * lane, n = h->n[0], pitch = h->pitch;
    const int whole = (trid_block_thread() & ~31) >> trid_log2(width); /* the first of the warp's lines */
    const int within = from < pitch ? from : 0; /* lanes that have no points read some that exist */
    const int american = h->problem->exercise == FD_AMERICAN, about = s > 0 && pace->of.about;
    const int changes = s == 0 && ADI2D_F(p_chip_changes)(h, memory), source = s ? h->z : h->u;
    const int rows = h->rows, first = h->first, keeps = s == 0 && pace->of.stages > 1;
    ADI2D_F(p_chip_rim)(h, memory, source);
    TB_LOOP
    for (int base = 0; base + whole < rows; base += groups) {
        const int alive = base + group < rows && from < n, mine = base + group < rows ? base + group : rows - 1;
        const int j = first + mine, below = mine > 0 ? mine - 1 : j > 0 ? h->each : mine;
        const int above = mine < rows - 1 ? mine + 1 : j < h->n[1] - 1 ? h->each + 1 : mine;
        ADI2D_R v[3][TRID_MOST_ROWS], left[3], right[3], y[ADI2D_M(numbers_of_y) + 1];
        ADI2D_R a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS], d[TRID_MOST_ROWS];
        const ADI2D_G(fd_cell) cell_y = ADI2D_F(p_cell_of)(h, memory, 1, j + j / K);
        ADI2D_F(p_numbers_of_y)(K, h, memory, j, y);
        TB_UNROLL
        for (int r = 0; r < 3; r++) {
            ADI2D_R *row = ADI2D_F(p_own)(memory, source) + (r == 0 ? below : r == 1 ? mine : above) * pitch;
            TB_UNROLL
            for (int q = 0; q < K / ADI2D_F(p_piece); q++) {
                ADI2D_F(p_pieces) piece = *ADI2D_F(p_piece_of)(row, within, q);
                TB_UNROLL
                for (int e = 0; e < ADI2D_F(p_piece); e++) v[r][q * ADI2D_F(p_piece) + e] = piece.v[e];
            }
            left[r] = __shfl_up_sync(TB_FULL_WARP, v[r][K - 1], 1, width);
            right[r] = __shfl_down_sync(TB_FULL_WARP, v[r][0], 1, width);
        }
        ADI2D_R *keep = ADI2D_F(p_own)(memory, h->g) + mine * pitch;
        ADI2D_R *old_row = ADI2D_F(p_own)(memory, h->u) + mine * pitch;
        TB_UNROLL
        for (int q = 0; q < K / ADI2D_F(p_piece); q++) {
            ADI2D_F(p_pieces) number[ADI2D_M(numbers_of_x) + 1], kept, old;
            TB_UNROLL
            for (int m = 0; m < ADI2D_F(p_of_x); m++)
                number[m] = *ADI2D_F(p_piece_of)(ADI2D_F(p_own)(memory, h->number[0]) + m * pitch, within, q);
            TB_UNROLL
            for (int e = 0; e < ADI2D_F(p_piece); e++) kept.v[e] = 0;
            if (s > 0 && alive) kept = *ADI2D_F(p_piece_of)(keep, within, q); /* others' are being written */
            if (about) old = *ADI2D_F(p_piece_of)(old_row, within, q);
            TB_UNROLL
            for (int e = 0; e < ADI2D_F(p_piece); e++) {
                const int k = q * ADI2D_F(p_piece) + e;
                const ADI2D_G(fd_cell) cell = ADI2D_F(p_cell_of)(h, memory, 0, from + lane + k);
                ADI2D_R x[ADI2D_M(numbers_of_x) + 1], nine[9];
                TB_UNROLL
                for (int m = 0; m < ADI2D_F(p_of_x); m++) x[m] = number[m].v[e];
                TB_UNROLL
                for (int r = 0; r < 3; r++) {
                    nine[3 * r] = k > 0 ? v[r][k - (k > 0)] : left[r];
                    nine[3 * r + 1] = v[r][k];
                    nine[3 * r + 2] = k < K - 1 ? v[r][k + (k < K - 1)] : right[r];
                }
                ADI2D_G(adi2d_terms) now = {{0, 0}, {0, 0}, 0, 0}, later = {{0, 0}, {0, 0}, 0, 0};
                ADI2D_F(terms)(x, y, s ? end : start, &now);
                ADI2D_F(terms)(x, y, end, &later);
                ADI2D_R f0 = 0;
                if (ADI2D_M(mixed)) f0 = now.mixed * ADI2D_G(fd_lane_mixed)(cell, cell_y, nine);
                ADI2D_R f1 = ADI2D_F(p_along)(0, cell, now, nine[3], nine[4], nine[5]);
                ADI2D_R f2 = ADI2D_F(p_along)(1, cell_y, now, nine[1], nine[4], nine[7]);
                if (s == 0) {
                    d[k] = pace->of.base[0][0] * f0 + pace->of.base[0][1] * (f1 + f2);
                    kept.v[e] = pace->of.base[1][0] * f0 + pace->of.base[1][1] * (f1 + f2);
                    if (changes) {
                        ADI2D_R more = size * (ADI2D_F(p_along)(0, cell, later, nine[3], nine[4], nine[5]) - f1);
                        d[k] += more;
                        if (!pace->of.about) kept.v[e] += more;
                    }
                    if (american && from + k < n) {
                        ADI2D_R extra = pace->of.dt * h->extra[mine * n + from + k];
                        d[k] += extra;
                        kept.v[e] += extra;
                    }
                } else {
                    d[k] = kept.v[e] + pace->of.base[1][2] * f0 + pace->of.base[1][3] * (f1 + f2);
                    if (about) d[k] += old.v[e] - nine[4];
                }
                ADI2D_F(p_matrix)(ADI2D_F(p_row)(0, cell, later), 0, size, later.kill, &a[k], &b[k], &c[k]);
            }
            if (keeps && alive) *ADI2D_F(p_piece_of)(keep, within, q) = kept;
        }
        /* What faces add: along y to whole lines, along x to two points. */
        TB_LOOP
        for (int f = 0; f < 4; f++) {
            const int axis = f / 2, side = f % 2, kind = h->problem->face[axis][side];
            if (kind != FD_SLOPE && kind != FD_DEGENERATE) continue;
            if (axis && j != (side ? h->n[1] - 1 : 0)) continue;
            TB_LOOP
            for (int m = 0; m < K; m++) {
                const int i = from + m;
                if (i >= n || (!axis && i != (side ? n - 1 : 0))) continue;
                const ADI2D_R more = ADI2D_F(p_chip_source)(h, memory, source, axis, side, i, j, s ? end : start,
                                                            s ? step->to : step->from);
                ADI2D_R late = 0;
                if (changes && !axis)
                    late = ADI2D_F(p_chip_source)(h, memory, source, axis, side, i, j, end, step->to) - more;
                const ADI2D_R add = (s ? pace->of.base[1][3] : pace->of.base[0][1]) * more + size * late;
                TB_UNROLL
                for (int k = 0; k < K; k++)
                    if (k == m) d[k] += add;
                if (keeps && alive)
                    keep[ADI2D_F(p_place)(i)] += pace->of.base[1][1] * more + (pace->of.about ? 0 : size * late);
            }
        }
        /* The faces' rows. */
        const ADI2D_R before = __shfl_up_sync(TB_FULL_WARP, d[K - 1], 1, width);
        const ADI2D_R *w = ADI2D_F(p_own)(memory, about ? h->z : h->u) + mine * pitch;
        if (lane == 0) ADI2D_F(p_chip_face)(K, h, memory, 0, 0, 0, j, 0, end, step->to, d[1], w[0], a, b, c, d);
        if (lane == (n - 1) / K) {
            const int k = n - 1 - from;
            ADI2D_R near_by = before;
            TB_UNROLL
            for (int m = 0; m < K; m++)
                if (m + 1 == k) near_by = d[m];
            ADI2D_F(p_chip_face)
            (K, h, memory, 0, 1, n - 1, j, k, end, step->to, near_by, w[ADI2D_F(p_place)(n - 1)], a, b, c, d);
        }
        ADI2D_G(trid_warp_hybrid)(K, width, K * width, a, b, c, d);
        ADI2D_R *to = ADI2D_F(p_own)(memory, s ? h->g : h->z) + mine * pitch;
        TB_UNROLL
        for (int q = 0; q < K / ADI2D_F(p_piece); q++) {
            ADI2D_F(p_pieces) piece;
            TB_UNROLL
            for (int e = 0; e < ADI2D_F(p_piece); e++) piece.v[e] = d[q * ADI2D_F(p_piece) + e];
            if (alive) *ADI2D_F(p_piece_of)(to, within, q) = piece;
        }
    }
}

/* What a thread solves along y: K rows from `from`, which block `owner` has from row `local` on; of columns
   first + base, where base grows by `lines`, as long as they are below `last`. */
typedef struct {
    int lines, first, last, from, owner, local;
} ADI2D_F(p_columns);

TB_D ADI2D_F(p_columns) ADI2D_F(p_columns_of)(int K, const ADI2D_F(p_chip) * h)
{
    ADI2D_F(p_columns) my;
    my.lines = trid_block_threads() >> trid_log2(h->sections);
    my.first = h->rank * h->share + (trid_block_thread() & (my.lines - 1));
    my.last = h->rank * h->share + h->share < h->n[0] ? h->rank * h->share + h->share : h->n[0];
    my.from = K * (trid_block_thread() >> trid_log2(my.lines));
    if (my.from >= h->n[1]) my.last = 0;
    my.owner = my.last ? my.from / h->each : h->rank;
    my.local = my.last ? my.from - my.owner * h->each : 0;
    return my;
}

/* Where row my.from of column i is in an array. */
TB_D trid_cluster_place ADI2D_F(p_column_of)(const ADI2D_F(p_chip) * h, unsigned char *memory,
                                             const ADI2D_F(p_columns) * my, int array, int i)
{
    const int at = my->local * h->pitch + ADI2D_F(p_place)(i);
    return trid_cluster_map(memory + array, my->owner) + at * (int)sizeof(ADI2D_R);
}

/* The K numbers of a column from `place` on, which are the block's own, at `own`, if near_by says so; zeros for a
   thread without a column: what others have may be about to change. */
TB_D void ADI2D_F(p_take)(int K, int alive, int near_by, const ADI2D_R *own, int pitch, trid_cluster_place place,
                          ADI2D_R *d)
{
    const int row = pitch * (int)sizeof(ADI2D_R);
    if (!alive) {
        TB_UNROLL
        for (int k = 0; k < K; k++) d[k] = 0;
    } else if (near_by) {
        TB_UNROLL
        for (int k = 0; k < K; k++) d[k] = own[k * pitch];
    } else {
        TB_UNROLL
        for (int k = 0; k < K; k++) d[k] = ADI2D_P_FAR(load)(place + k * row);
    }
}

/* The solve along y of stage s, and what it makes: u at the end of the last stage, else z. */
TB_D void ADI2D_F(p_chip_y)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory, int s, const fd_step *step)
{
    const ADI2D_G(adi2d_p_pace) *pace = (const ADI2D_G(adi2d_p_pace) *)(memory + h->pace);
    const ADI2D_R *start = ADI2D_F(p_own)(memory, h->now), *end = start + ADI2D_F(p_of_t), size = pace->of.size;
    const int n = h->n[1], about = s > 0 && pace->of.about, changes = !about && ADI2D_F(p_chip_changes)(h, memory);
    const int right_of = s ? h->g : h->z, w_of = about ? h->z : h->u, to_of = s == pace->of.stages - 1 ? h->u : h->z;
    const int pitch = h->pitch, row = pitch * (int)sizeof(ADI2D_R), share = h->share;
    const ADI2D_F(p_columns) my = ADI2D_F(p_columns_of)(K, h);
    const int last = n - 1 - my.from, whole = my.from + K <= n, mine = my.owner == h->rank;
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        const int alive = my.first + base < my.last, i = alive ? my.first + base : 0;
        trid_cluster_place right = ADI2D_F(p_column_of)(h, memory, &my, right_of, i);
        trid_cluster_place w = ADI2D_F(p_column_of)(h, memory, &my, w_of, i);
        ADI2D_R a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS], d[TRID_MOST_ROWS];
        ADI2D_R x[ADI2D_M(numbers_of_x) + 1];
        ADI2D_F(p_numbers_of_x)(h, memory, i, x);
        const int at = my.local * pitch + ADI2D_F(p_place)(i);
        ADI2D_F(p_take)(K, alive, mine, ADI2D_F(p_own)(memory, right_of) + at, pitch, right, d);
        ADI2D_R near_by = 0; /* right-hand side of the last point's neighbour, where another thread has it */
        if (alive && last == 0) near_by = ADI2D_F(p_value_of)(h, memory, right_of, i, n - 2);
        if (alive && changes) {
            /* What the terms along y change; for another thread's neighbour of the last point too. */
            const int low = my.from > 0 ? my.from - 1 : 0, high = my.from + K < n ? my.from + K : n - 1;
            ADI2D_R below = ADI2D_F(p_value_of)(h, memory, w_of, i, low), here = ADI2D_P_FAR(load)(w);
            const ADI2D_R after = ADI2D_F(p_value_of)(h, memory, w_of, i, high);
            if (last == 0) {
                const ADI2D_G(fd_cell) cell = ADI2D_F(p_cell_of)(h, memory, 1, n - 2 + (n - 2) / K);
                const ADI2D_R beyond = ADI2D_F(p_value_of)(h, memory, w_of, i, n - 3);
                near_by += size * (ADI2D_F(p_along)(1, cell, ADI2D_F(p_chip_terms)(K, h, memory, i, n - 2, end), beyond,
                                                    below, here) -
                                   ADI2D_F(p_along)(1, cell, ADI2D_F(p_chip_terms)(K, h, memory, i, n - 2, start),
                                                    beyond, below, here));
            }
            TB_UNROLL
            for (int k = 0; k < K; k++) {
                const ADI2D_R above = k < K - 1 ? ADI2D_P_FAR(load)(w + (k + 1) * row) : after;
                const ADI2D_G(fd_cell) cell = ADI2D_F(p_cell_of)(h, memory, 1, my.from + my.from / K + k);
                ADI2D_R y[ADI2D_M(numbers_of_y) + 1];
                ADI2D_G(adi2d_terms) now = {{0, 0}, {0, 0}, 0, 0}, later = {{0, 0}, {0, 0}, 0, 0};
                ADI2D_F(p_numbers_of_y)(K, h, memory, my.from + k, y);
                ADI2D_F(terms)(x, y, start, &now);
                ADI2D_F(terms)(x, y, end, &later);
                d[k] += size * (ADI2D_F(p_along)(1, cell, later, below, here, above) -
                                ADI2D_F(p_along)(1, cell, now, below, here, above));
                below = here, here = above;
            }
            TB_LOOP
            for (int side = 0; side < 2; side++) {
                const int j = side ? n - 1 : 0, kind = h->problem->face[1][side];
                if (j < my.from || j >= my.from + K || (kind != FD_SLOPE && kind != FD_DEGENERATE)) continue;
                ADI2D_R more = ADI2D_F(p_chip_source)(h, memory, w_of, 1, side, i, j, end, step->to) -
                               ADI2D_F(p_chip_source)(h, memory, w_of, 1, side, i, j, start, step->from);
                TB_UNROLL
                for (int k = 0; k < K; k++)
                    if (my.from + k == j) d[k] += size * more;
            }
        }
        TB_UNROLL
        for (int k = 0; k < K; k++) {
            ADI2D_R y[ADI2D_M(numbers_of_y) + 1];
            ADI2D_G(adi2d_terms) terms = {{0, 0}, {0, 0}, 0, 0};
            ADI2D_F(p_numbers_of_y)(K, h, memory, my.from + k, y);
            ADI2D_F(terms)(x, y, end, &terms);
            const ADI2D_G(fd_cell) cell = ADI2D_F(p_cell_of)(h, memory, 1, my.from + my.from / K + k);
            ADI2D_F(p_matrix)(ADI2D_F(p_row)(1, cell, terms), 0, size, terms.kill, &a[k], &b[k], &c[k]);
        }
        if (alive && my.from == 0) ADI2D_F(p_chip_face)
        (K, h, memory, 1, 0, i, 0, 0, end, step->to, d[1], ADI2D_P_FAR(load)(w), a, b, c, d);
        if (alive && last < K) {
            TB_UNROLL
            for (int m = 0; m < K; m++)
                if (m + 1 == last) near_by = d[m];
            ADI2D_F(p_chip_face)
            (K, h, memory, 1, 1, i, n - 1, last, end, step->to, near_by, ADI2D_P_FAR(load)(w + last * row), a, b, c, d);
        }
        if (alive && h->problem->face[0][i > 0] == FD_VALUE && (i == 0 || i == h->n[0] - 1)) {
            TB_UNROLL
            for (int k = 0; k < K; k++) { /* the solve along x has set these */
                a[k] = c[k] = 0, b[k] = 1;
                d[k] = ADI2D_P_FAR(load)(right + k * row);
            }
        }
        ADI2D_G(trid_block_interleaved_unchecked)
        (K, my.lines, h->sections, K * h->sections, a, b, c, d, ADI2D_F(p_own)(memory, h->exchange));
        if (alive && mine) {
            const ADI2D_R *from = ADI2D_F(p_own)(memory, w_of) + at;
            ADI2D_R *to = ADI2D_F(p_own)(memory, to_of) + at;
            TB_UNROLL
            for (int k = 0; k < K; k++)
                if (whole || k <= last) to[k * pitch] = from[k * pitch] + d[k];
        } else if (alive) {
            trid_cluster_place to = ADI2D_F(p_column_of)(h, memory, &my, to_of, i);
            TB_UNROLL
            for (int k = 0; k < K; k++)
                if (whole || k <= last) ADI2D_P_FAR(store)(to + k * row, ADI2D_P_FAR(load)(w + k * row) + d[k]);
        }
        __syncthreads();
    }
}

/* ---- a march of products: one array, z between its steps --------------------------------------------------------- */

/* z = (1 + size A_2) u. */
TB_D void ADI2D_F(p_chip_open)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory)
{
    const ADI2D_R *end = ADI2D_F(p_own)(memory, h->now) + ADI2D_F(p_of_t);
    const ADI2D_R size = ((const ADI2D_G(adi2d_p_pace) *)(memory + h->pace))->of.size;
    const int n = h->n[1], row = h->pitch * (int)sizeof(ADI2D_R), share = h->share;
    const ADI2D_F(p_columns) my = ADI2D_F(p_columns_of)(K, h);
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        const int alive = my.first + base < my.last, i = alive ? my.first + base : 0;
        const int low = alive && my.from > 0 ? my.from - 1 : 0, high = my.from + K < n ? my.from + K : n - 1;
        trid_cluster_place at = ADI2D_F(p_column_of)(h, memory, &my, h->u, i);
        ADI2D_R d[TRID_MOST_ROWS], x[ADI2D_M(numbers_of_x) + 1], here = 0, below = 0, after = 0;
        if (alive) {
            here = ADI2D_P_FAR(load)(at);
            below = ADI2D_F(p_value_of)(h, memory, h->u, i, low);
            after = ADI2D_F(p_value_of)(h, memory, h->u, i, high);
        }
        ADI2D_F(p_numbers_of_x)(h, memory, i, x);
        TB_UNROLL
        for (int k = 0; k < K; k++) {
            const ADI2D_R above = k < K - 1 && alive ? ADI2D_P_FAR(load)(at + (k + 1) * row) : after;
            const ADI2D_G(fd_cell) cell = ADI2D_F(p_cell_of)(h, memory, 1, my.from + my.from / K + k);
            ADI2D_R y[ADI2D_M(numbers_of_y) + 1];
            ADI2D_G(adi2d_terms) terms = {{0, 0}, {0, 0}, 0, 0};
            ADI2D_F(p_numbers_of_y)(K, h, memory, my.from + k, y);
            ADI2D_F(terms)(x, y, end, &terms);
            d[k] = here + size * ADI2D_F(p_along)(1, cell, terms, below, here, above);
            below = here, here = above;
        }
        __syncthreads(); /* all of these columns' threads are this block's */
        TB_UNROLL
        for (int k = 0; k < K; k++)
            if (alive && my.from + k < n) ADI2D_P_FAR(store)(at + k * row, d[k]);
    }
}

/* y = 2 z / (1 - size A_1) - z. */
TB_D void ADI2D_F(p_chip_product_x)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory)
{
    const ADI2D_R *end = ADI2D_F(p_own)(memory, h->now) + ADI2D_F(p_of_t);
    const ADI2D_R size = ((const ADI2D_G(adi2d_p_pace) *)(memory + h->pace))->of.size;
    const int width = h->width, lane = trid_block_thread() & (width - 1),
              group = trid_block_thread() >> trid_log2(width);
    const int groups = trid_block_threads() >> trid_log2(width), from = K * lane, n = h->n[0], pitch = h->pitch;
    const int whole = (trid_block_thread() & ~31) >> trid_log2(width); /* the first of the warp's lines */
    const int within = from < pitch ? from : 0, rows = h->rows, first = h->first;
    const ADI2D_R *numbers = ADI2D_F(p_own)(memory, h->number[0]);
    ADI2D_R *u = ADI2D_F(p_own)(memory, h->u), now[ADI2D_M(numbers_of_t) + 1];
    for (int q = 0; q < ADI2D_F(p_of_t); q++) now[q] = end[q];
    TB_LOOP
    for (int base = 0; base + whole < rows; base += groups) {
        const int alive = base + group < rows && from < n, mine = base + group < rows ? base + group : rows - 1;
        ADI2D_R *row = u + mine * pitch, y[ADI2D_M(numbers_of_y) + 1];
        ADI2D_R a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS], d[TRID_MOST_ROWS];
        ADI2D_F(p_numbers_of_y)(K, h, memory, first + mine, y);
        TB_UNROLL
        for (int q = 0; q < K / ADI2D_F(p_piece); q++) {
            ADI2D_F(p_pieces) number[ADI2D_M(numbers_of_x) + 1], piece;
            TB_UNROLL
            for (int e = 0; e < ADI2D_F(p_piece); e++) piece.v[e] = 0;
            if (alive) piece = *ADI2D_F(p_piece_of)(row, within, q); /* others' are being written */
            TB_UNROLL
            for (int m = 0; m < ADI2D_F(p_of_x); m++)
                number[m] = *ADI2D_F(p_piece_of)((ADI2D_R *)numbers + m * pitch, within, q);
            TB_UNROLL
            for (int e = 0; e < ADI2D_F(p_piece); e++) {
                const int k = q * ADI2D_F(p_piece) + e;
                ADI2D_R x[ADI2D_M(numbers_of_x) + 1];
                TB_UNROLL
                for (int m = 0; m < ADI2D_F(p_of_x); m++) x[m] = number[m].v[e];
                ADI2D_G(adi2d_terms) terms = {{0, 0}, {0, 0}, 0, 0};
                ADI2D_F(terms)(x, y, now, &terms);
                ADI2D_F(p_matrix)
                (ADI2D_F(p_row)(0, ADI2D_F(p_cell_of)(h, memory, 0, from + lane + k), terms), 0, size, terms.kill,
                 &a[k], &b[k], &c[k]);
                d[k] = piece.v[e];
            }
        }
        ADI2D_G(trid_warp_hybrid)(K, width, K * width, a, b, c, d);
        TB_UNROLL
        for (int q = 0; q < K / ADI2D_F(p_piece); q++) {
            if (!alive) continue;
            ADI2D_F(p_pieces) *at = ADI2D_F(p_piece_of)(row, within, q), piece = *at;
            TB_UNROLL
            for (int e = 0; e < ADI2D_F(p_piece); e++) piece.v[e] = 2 * d[q * ADI2D_F(p_piece) + e] - piece.v[e];
            *at = piece;
        }
    }
}

/* Row from + k of 1 - size A_2, for the numbers x of a column. */
TB_D void ADI2D_F(p_chip_matrix_y)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory, int from, ADI2D_R size,
                                   const ADI2D_R *x, const ADI2D_R *now, ADI2D_R *a, ADI2D_R *b, ADI2D_R *c)
{
    TB_UNROLL
    for (int k = 0; k < K; k++) {
        ADI2D_R y[ADI2D_M(numbers_of_y) + 1];
        ADI2D_G(adi2d_terms) terms = {{0, 0}, {0, 0}, 0, 0};
        const ADI2D_G(fd_cell) cell = ADI2D_F(p_cell_of)(h, memory, 1, from + from / K + k);
        ADI2D_F(p_numbers_of_y)(K, h, memory, from + k, y);
        ADI2D_F(terms)(x, y, now, &terms);
        ADI2D_F(p_matrix)(ADI2D_F(p_row)(1, cell, terms), 0, size, terms.kill, &a[k], &b[k], &c[k]);
    }
}

/* Takes 1 - size A_2 apart, which is the same for all columns: section s's factors lie at s (5 K), reduced row r's at
   sections (5 K) + 12 r. */
ADI2D_P_RARE void ADI2D_F(p_chip_factor)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory)
{
    const ADI2D_R *now = ADI2D_F(p_own)(memory, h->now) + ADI2D_F(p_of_t);
    const ADI2D_R size = ((const ADI2D_G(adi2d_p_pace) *)(memory + h->pace))->of.size;
    const ADI2D_F(p_columns) my = ADI2D_F(p_columns_of)(K, h);
    const int sections = h->sections, lines = my.lines, thread = trid_block_thread();
    ADI2D_R a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS], x[ADI2D_M(numbers_of_x) + 1];
    ADI2D_R f[TRID_INTERLEAVED_FACTOR_LEN(TRID_MOST_ROWS)], *to = ADI2D_F(p_own)(memory, h->factors);
    int steps;
    ADI2D_F(p_numbers_of_x)(h, memory, 0, x);
    ADI2D_F(p_chip_matrix_y)(K, h, memory, K * (thread >> trid_log2(lines)), size, x, now, a, b, c);
    ADI2D_G(trid_block_interleaved_factor)
    (K, lines, sections, K * sections, a, b, c, f, &steps, ADI2D_F(p_own)(memory, h->exchange));
    __syncthreads(); /* the factors before these have been read */
    TB_UNROLL
    for (int e = 0; e < 5 * K; e++)
        if ((thread & (lines - 1)) == 0) to[(thread >> trid_log2(lines)) * 5 * K + e] = f[e];
    TB_UNROLL
    for (int e = 0; e < 12; e++)
        if (thread < sections) to[sections * 5 * K + 12 * thread + e] = f[5 * K + e];
    if (thread == 0) to[sections * (5 * K + 12)] = (ADI2D_R)steps;
    __syncthreads();
}

/* u' = y / (1 - size A_2), and z = 2 u' - y unless the chain closes. */
TB_D void ADI2D_F(p_chip_product_y)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory)
{
    const ADI2D_G(adi2d_p_pace) *pace = (const ADI2D_G(adi2d_p_pace) *)(memory + h->pace);
    const ADI2D_R *end = ADI2D_F(p_own)(memory, h->now) + ADI2D_F(p_of_t), size = pace->of.size;
    const ADI2D_R twice = pace->close ? 1 : 2, less = pace->close ? 0 : 1;
    const int pitch = h->pitch, row = pitch * (int)sizeof(ADI2D_R), share = h->share, sections = h->sections;
    const ADI2D_F(p_columns) my = ADI2D_F(p_columns_of)(K, h);
    const int near_by = my.owner == h->rank, section = trid_block_thread() >> trid_log2(my.lines);
    ADI2D_R *u = ADI2D_F(p_own)(memory, h->u), *exchange = ADI2D_F(p_own)(memory, h->exchange);
    ADI2D_R *factors = ADI2D_F(p_own)(memory, h->factors), now[ADI2D_M(numbers_of_t) + 1];
    const int steps = ADI2D_P_ALONE ? (int)factors[sections * (5 * K + 12)] : 0;
    for (int q = 0; q < ADI2D_F(p_of_t); q++) now[q] = end[q];
    TB_LOOP
    for (int base = 0; base < share; base += my.lines) {
        const int alive = my.first + base < my.last, i = alive ? my.first + base : 0;
        trid_cluster_place at = ADI2D_F(p_column_of)(h, memory, &my, h->u, i);
        ADI2D_R d[TRID_MOST_ROWS], old[TRID_MOST_ROWS], *own = u + my.local * pitch + ADI2D_F(p_place)(i);
        ADI2D_F(p_take)(K, alive, near_by, own, pitch, at, d);
        TB_UNROLL
        for (int k = 0; k < K; k++) old[k] = d[k];
        if (ADI2D_P_ALONE) {
            ADI2D_R f[5 * TRID_MOST_ROWS];
            const ADI2D_F(p_pieces) *from = (const ADI2D_F(p_pieces) *)(factors + section * 5 * K);
            TB_UNROLL
            for (int q = 0; q < 5 * K / ADI2D_F(p_piece); q++) {
                ADI2D_F(p_pieces) piece = from[q];
                TB_UNROLL
                for (int e = 0; e < ADI2D_F(p_piece); e++) f[q * ADI2D_F(p_piece) + e] = piece.v[e];
            }
            ADI2D_G(trid_block_interleaved_solve_stored)
            (K, my.lines, sections, K * sections, steps, f,
             factors + sections * 5 * K + 12 * (trid_block_thread() & (sections - 1)), 1, d, exchange);
        } else {
            ADI2D_R a[TRID_MOST_ROWS], b[TRID_MOST_ROWS], c[TRID_MOST_ROWS], x[ADI2D_M(numbers_of_x) + 1];
            ADI2D_F(p_numbers_of_x)(h, memory, i, x);
            ADI2D_F(p_chip_matrix_y)(K, h, memory, my.from, size, x, now, a, b, c);
            ADI2D_G(trid_block_interleaved_unchecked)(K, my.lines, sections, K * sections, a, b, c, d, exchange);
        }
        /* Rows beyond the last are there too, and stay 0. */
        if (alive && near_by) {
            TB_UNROLL
            for (int k = 0; k < K; k++) own[k * pitch] = twice * d[k] - less * old[k];
        } else if (alive) {
            TB_UNROLL
            for (int k = 0; k < K; k++) ADI2D_P_FAR(store)(at + k * row, twice * d[k] - less * old[k]);
        }
        if (!ADI2D_P_ALONE) __syncthreads(); /* the stored solve's next call does not touch what is still read */
    }
}

/* ---- what happens between steps, and the march ------------------------------------------------------------------- */

/* Point `at` of the block's rows, counted along them. */
TB_D ADI2D_R *ADI2D_F(p_chip_point)(const ADI2D_F(p_chip) * h, unsigned char *memory, int at)
{
    return ADI2D_F(p_own)(memory, h->u) + at / h->n[0] * h->pitch + ADI2D_F(p_place)(at % h->n[0]);
}

/* What exercise does to the block's rows after a step. */
ADI2D_P_RARE void ADI2D_F(p_chip_exercise)(const ADI2D_F(p_chip) * h, unsigned char *memory)
{
    const ADI2D_R dt = ((const ADI2D_G(adi2d_p_pace) *)(memory + h->pace))->of.dt;
    const int kind = h->problem->exercise;
    for (int at = trid_block_thread(); at < h->rows * h->n[0]; at += trid_block_threads()) {
        ADI2D_R *u = ADI2D_F(p_chip_point)(h, memory, at), final = h->final[at];
        ADI2D_R more = kind == FD_AMERICAN ? h->extra[at] : 0;
        *u = ADI2D_G(fd_lane_exercise)(kind, dt, final, *u, &more);
        if (kind == FD_AMERICAN) h->extra[at] = more;
    }
}

/* Value and derivatives at the spot, by one thread of the cluster. */
ADI2D_P_RARE void ADI2D_F(p_chip_values)(const ADI2D_F(p_chip) * h, unsigned char *memory, adi2d_values *values)
{
    const fd_weights *at = h->t.plan->at;
    if (h->rank > 0 || trid_block_thread() > 0) return;
    ADI2D_R around[16];
    for (int k = 0; k < 16; k++)
        around[k] = ADI2D_F(p_value_of)(h, memory, h->u, at[0].first + k % 4, at[1].first + k / 4);
    *values = ADI2D_F(p_values)(h->t.plan, around);
}

/* What happens at a date: to the block's rows, then, after a barrier of all, the record. */
ADI2D_P_RARE void ADI2D_F(p_chip_date)(ADI2D_F(p_chip) * h, unsigned char *memory, int date, adi2d_values *values)
{
    const fd_date *event = &h->problem->at_date[date];
    const double *x = h->t.x[0];
    const int n = h->n[0], threads = trid_block_threads(), kind = h->problem->exercise;
    int added = 0;
    if (event->what & FD_SHIFT)
        for (int row = 0; row < h->rows; row++) {
            /* All of a row is read before any of it is written. */
            enum { MOST = 512 / 32 };
            ADI2D_R *u = ADI2D_F(p_own)(memory, h->u) + row * h->pitch, shifted[MOST];
            for (int m = 0; m < MOST && m * threads < n; m++) {
                const int i = trid_block_thread() + m * threads;
                fd_weights from;
                shifted[m] = 0;
                if (i >= n || fd_interpolate(n, x, fd_shifted(event, x[i], x[0], x[n - 1]), &from)) continue;
                double sum = 0;
                for (int k = 0; k < 4; k++) sum += from.value[k] * (double)u[ADI2D_F(p_place)(from.first + k)];
                shifted[m] = (ADI2D_R)sum;
            }
            __syncthreads();
            for (int m = 0; m < MOST && m * threads < n; m++) {
                const int i = trid_block_thread() + m * threads;
                if (i < n) u[ADI2D_F(p_place)(i)] = shifted[m];
            }
            __syncthreads();
        }
    for (int at = trid_block_thread(); at < h->rows * n; at += threads) {
        ADI2D_R *u = ADI2D_F(p_chip_point)(h, memory, at);
        if (event->what & FD_CHANGE_VALUES) {
            const double before = (double)*u;
            *u = (ADI2D_R)ADI2D_M(p_change)(h->parameters, date, x[at % n], h->t.x[1][h->first + at / n], before);
            added = fd_p_larger(added, fd_p_added(before, (double)*u));
        }
        ADI2D_R more = kind == FD_AMERICAN ? h->extra[at] : 0;
        *u = ADI2D_G(fd_lane_at_date)(event->what, kind, h->final[at], *u, &more);
        if (kind == FD_AMERICAN) h->extra[at] = more;
    }
    if (added) fd_p_most(&h->given, added);
    ADI2D_F(p_meet)(h);
    if (event->what & FD_RECORD) ADI2D_F(p_chip_values)(h, memory, &values[1 + date]);
}

/* The least index, over all threads of the cluster; `least` is a word of shared memory. */
TB_D int ADI2D_F(p_chip_least)(const ADI2D_F(p_chip) * h, int index, int *least)
{
    if (trid_block_thread() == 0) *least = FD_P_NONE;
    __syncthreads();
    if (index != FD_P_NONE) fd_p_least(least, index);
    ADI2D_F(p_meet)(h);
    for (int r = 0; r < h->size; r++) {
        const float bits = trid_cluster_load_f32(trid_cluster_map(least, r));
        int other;
        memcpy(&other, &bits, sizeof other);
        index = other < index ? other : index;
    }
    ADI2D_F(p_meet)(h);
    return index;
}

/* The first of the cluster's points that is not finite; in *largest the largest magnitude of this thread's. */
ADI2D_P_RARE int ADI2D_F(p_chip_lost)(const ADI2D_F(p_chip) * h, unsigned char *memory, int *least, int *largest)
{
    int lost = FD_P_NONE, most = 0;
    for (int at = trid_block_thread(); at < h->rows * h->n[0] && lost == FD_P_NONE; at += trid_block_threads()) {
        const ADI2D_R value = *ADI2D_F(p_chip_point)(h, memory, at);
        most = fd_p_larger(most, (double)value);
        if (!ADI2D_G(trid_finite)(value)) lost = at + h->first * h->n[0];
    }
    *largest = most;
    return ADI2D_F(p_chip_least)(h, lost, least);
}

/* What a march comes to whose values are there; its growth, by the magnitudes of all threads. */
ADI2D_P_RARE fd_status ADI2D_F(p_chip_ended)(const ADI2D_F(p_chip) * h, unsigned char *memory, int *least)
{
    const int n = h->n[0];
    int largest, lost = ADI2D_F(p_chip_lost)(h, memory, least, &largest);
    if (lost != FD_P_NONE) return adi2d_p_status(FD_NOT_SOLVED, 0, -1, lost % n, lost / n, h->t.plan->steps - 1);
    fd_status status = adi2d_p_status(FD_OK, 0, -1, -1, -1, -1);
    const int given = -ADI2D_F(p_chip_least)(h, -h->given, least);
    fd_p_grown(&status, given, -ADI2D_F(p_chip_least)(h, -largest, least));
    return status;
}

/* The first of the points at which the model gives something that is not finite, at the step's start or end. */
ADI2D_P_RARE int ADI2D_F(p_chip_nan)(const ADI2D_F(p_chip) * h, unsigned char *memory, int *least)
{
    const ADI2D_R *now = ADI2D_F(p_own)(memory, h->now);
    int lost = FD_P_NONE;
    for (int at = trid_block_thread(); at < h->rows * h->n[0] && lost == FD_P_NONE; at += trid_block_threads())
        for (int e = 0; e < 2; e++)
            if (!ADI2D_F(p_finite)(
                    ADI2D_F(p_terms)(&h->t, at % h->n[0], h->first + at / h->n[0], now + e * ADI2D_F(p_of_t))))
                lost = at + h->first * h->n[0];
    return ADI2D_F(p_chip_least)(h, lost, least);
}

/* Step k's pace and numbers of time, from device memory. */
TB_D void ADI2D_F(p_chip_pace)(const ADI2D_F(p_chip) * h, unsigned char *memory, int k)
{
    const int *from = (const int *)&h->t.pace[k], words = (int)(sizeof(ADI2D_G(adi2d_p_pace)) / sizeof(int));
    int *to = (int *)(memory + h->pace);
    for (int q = trid_block_thread(); q < words; q += trid_block_threads()) to[q] = from[q];
    for (int q = trid_block_thread(); q < 2 * ADI2D_F(p_of_t); q += trid_block_threads())
        ADI2D_F(p_own)(memory, h->now)[q] = h->t.time[2 * k * ADI2D_F(p_of_t) + q];
    __syncthreads();
}

/* Marches the problem; products is a literal: its steps go as products. As p_host_march. */
TB_D fd_status ADI2D_F(p_chip_march)(int K, int products, ADI2D_F(p_chip) * h, unsigned char *memory, int watched,
                                     int *least, adi2d_values *values)
{
    const int steps = h->t.plan->steps, n = h->n[0], american = h->problem->exercise == FD_AMERICAN;
    ADI2D_R factored = 0; /* the size for which the matrix along y is taken apart */
    for (int at = trid_block_thread(); at < h->cell[0] / (int)sizeof(ADI2D_R); at += trid_block_threads())
        ADI2D_F(p_own)(memory, h->u)[at] = 0; /* all arrays, with what lies beyond the lines' ends */
    __syncthreads();
    for (int at = trid_block_thread(); at < h->rows * n; at += trid_block_threads()) {
        *ADI2D_F(p_chip_point)(h, memory, at) = h->final[at];
        if (american) h->extra[at] = 0;
    }
    ADI2D_F(p_meet)(h);
    TB_LOOP
    for (int k = 0; k < steps; k++) {
        const fd_step *step = &h->t.step[k];
        const ADI2D_G(adi2d_p_pace) *pace = (const ADI2D_G(adi2d_p_pace) *)(memory + h->pace);
        ADI2D_F(p_chip_pace)(h, memory, k);
        const int date = pace->of.date; /* the next step's may be written before all are done with this one's */
        if (watched) {
            int lost = ADI2D_F(p_chip_nan)(h, memory, least);
            if (lost != FD_P_NONE) return adi2d_p_status(FD_MODEL_NAN, 0, -1, lost % n, lost / n, k);
        }
        if (products) {
            if (pace->open) {
                ADI2D_F(p_chip_open)(K, h, memory);
                ADI2D_F(p_meet)(h);
            }
            if (ADI2D_P_ALONE && (pace->of.size < factored || pace->of.size > factored)) {
                factored = pace->of.size;
                ADI2D_F(p_chip_factor)(K, h, memory);
            }
            ADI2D_F(p_chip_product_x)(K, h, memory);
            ADI2D_F(p_meet)(h);
            ADI2D_F(p_chip_product_y)(K, h, memory);
        } else {
            TB_LOOP
            for (int s = 0; s < pace->of.stages; s++) {
                if (s > 0) ADI2D_F(p_meet)(h);
                ADI2D_F(p_chip_x)(K, h, memory, s, step);
                ADI2D_F(p_meet)(h);
                ADI2D_F(p_chip_y)(K, h, memory, s, step);
            }
        }
        ADI2D_F(p_meet)(h);
        if (h->problem->exercise != FD_EUROPEAN) {
            ADI2D_F(p_chip_exercise)(h, memory);
            ADI2D_F(p_meet)(h);
        }
        if (date >= 0 && h->problem->at_date) {
            ADI2D_F(p_chip_date)(h, memory, date, values);
            ADI2D_F(p_meet)(h);
        }
        if (watched) {
            int unused, lost = ADI2D_F(p_chip_lost)(h, memory, least, &unused);
            if (lost != FD_P_NONE) return adi2d_p_status(FD_NOT_SOLVED, 0, -1, lost % n, lost / n, k);
        }
    }
    return ADI2D_F(p_chip_ended)(h, memory, least);
}

/* The tables, from device memory; beyond the last point cells are 0 and numbers those of the last. */
TB_D void ADI2D_F(p_chip_tables)(int K, const ADI2D_F(p_chip) * h, unsigned char *memory)
{
    for (int d = 0; d < 2; d++) {
        const int numbers = d ? ADI2D_F(p_of_y) : ADI2D_F(p_of_x), room = K * (d ? h->sections : h->width);
        for (int i = trid_block_thread(); i < room; i += trid_block_threads()) {
            const int last = i < h->n[d] ? i : h->n[d] - 1;
            const ADI2D_G(fd_cell) none = {0, 0, 0, 0};
            ((ADI2D_G(fd_cell) *)(memory + h->cell[d]))[i + i / K] = i < h->n[d] ? h->t.cell[d][i] : none;
            for (int q = 0; q < numbers && (d || i < h->pitch); q++) ADI2D_F(p_own)
            (memory, h->number[d])[d ? q * room + i : q * h->pitch + ADI2D_F(p_place)(i)] =
                h->t.number[d][q * h->t.padded[d] + last];
        }
    }
    __syncthreads();
}

/* A block of the cluster's part in its problem. memory: dynamic shared memory, of which h and least are not a part. */
TB_D void ADI2D_F(p_chip_problem)(int K, int products, const ADI2D_F(p_launch) * launch, unsigned char *memory,
                                  ADI2D_F(p_chip) * h, int *least)
{
    const adi2d_batch *batch = &launch->batch;
    const int size = trid_cluster_size(), which = (int)blockIdx.x / size;
    if (trid_block_thread() == 0) {
        ADI2D_F(p_chip_lay_out)(K, launch, trid_block_threads(), h);
        unsigned char *scratch = launch->memory + (size_t)which * launch->bytes;
        const size_t used = ADI2D_F(p_lay_out)(batch, scratch, &h->t);
        h->rank = trid_cluster_rank(), h->size = size, h->given = h->t.plan->given;
        h->problem = &batch->problem[which], h->parameters = &launch->parameters[which];
        h->n[0] = h->t.plan->points[0], h->n[1] = h->t.plan->points[1];
        h->width = launch->width, h->sections = launch->sections, h->each = launch->each, h->pitch = launch->pitch;
        h->first = h->rank * h->each, h->share = (h->n[0] + size - 1) / size;
        h->rows = h->n[1] - h->first < h->each ? h->n[1] - h->first : h->each;
        if (h->rows < 0) h->rows = 0;
        h->final = h->t.final + (size_t)h->first * (size_t)h->n[0];
        h->extra = (ADI2D_R *)(scratch + used) + (size_t)h->first * (size_t)h->n[0];
    }
    __syncthreads();
    const adi2d_p_plan *plan = h->t.plan;
    adi2d_values *values = batch->values + (size_t)which * (size_t)(1 + batch->dates);
    fd_status status = plan->status;
    if (!status.what) {
        ADI2D_F(p_chip_tables)(K, h, memory);
        TB_LOOP
        for (int watched = 0; watched < 2; watched++) {
            status = ADI2D_F(p_chip_march)(K, products, h, memory, watched, least, values);
            if (!status.what) break;
            ADI2D_F(p_meet)(h);
        }
        status.weak = plan->weak;
    }
    const size_t row = (size_t)batch->points[0];
    ADI2D_R *grid = (ADI2D_R *)batch->grid;
    if (grid) grid += (size_t)which * row * (size_t)batch->points[1];
    if (!status.what) {
        ADI2D_F(p_chip_values)(h, memory, &values[0]);
        for (int at = trid_block_thread(); at < h->rows * h->n[0] && grid; at += trid_block_threads())
            grid[(size_t)(h->first + at / h->n[0]) * row + (size_t)(at % h->n[0])] =
                *ADI2D_F(p_chip_point)(h, memory, at);
    } else if (h->rank == 0) {
        ADI2D_F(p_nothing)(batch, which, trid_block_thread(), trid_block_threads());
    }
    if (h->rank == 0 && trid_block_thread() == 0) batch->status[which] = status;
    ADI2D_F(p_meet)(h); /* no block ends while another reads what it has */
}

/* A block makes a problem ready. */
TB_D void ADI2D_F(p_prepare_block)(const ADI2D_F(p_launch) * launch)
{
    ADI2D_F(p_tables) t;
    const int which = (int)blockIdx.x;
    ADI2D_F(p_lay_out)(&launch->batch, launch->memory + (size_t)which * launch->bytes, &t);
    TB_LOOP
    for (int phase = 0; phase < ADI2D_F(p_phases); phase++) {
        ADI2D_F(p_prepare)
        (&launch->batch, &launch->batch.problem[which], &launch->parameters[which], &t, phase, trid_block_thread(),
         trid_block_threads());
        __syncthreads();
    }
}

#endif /* TB_DEVICE_SCOPES */

#if TB_LAUNCHES

extern "C++" {

/* What a call that is refused leaves, if the batch says where and how much: all bits set, which is FD_BAD_ARGUMENT as a
   status, and NaN elsewhere. Returns cudaErrorInvalidValue. */
template <int Unused = 0>
static inline cudaError_t ADI2D_F(p_refuse)(const adi2d_batch *batch, cudaStream_t stream)
{
    if (adi2d_p_sizes(batch) || batch->problems == 0) return cudaErrorInvalidValue;
    const size_t problems = (size_t)batch->problems, n0 = (size_t)batch->points[0], n1 = (size_t)batch->points[1];
    void *const at[5] = {batch->status, batch->values, batch->grid, batch->coordinates[0], batch->coordinates[1]};
    const size_t bytes[5] = {sizeof(fd_status), (size_t)(1 + batch->dates) * sizeof(adi2d_values),
                             n0 * n1 * sizeof(ADI2D_R), n0 * sizeof(double), n1 * sizeof(double)};
    for (int k = 0; k < 5; k++)
        if (at[k] && cudaMemsetAsync(at[k], 255, problems * bytes[k], stream) != cudaSuccess)
            cudaGetLastError(); /* of a pointer that is not the device's: no later call shall find it */
    return cudaErrorInvalidValue;
}

template <int Threads>
TRID_KERNEL void __launch_bounds__(Threads) ADI2D_F(p_prepare_kernel)(ADI2D_F(p_launch) launch)
{
    ADI2D_F(p_prepare_block)(&launch);
}

template <int K, int Threads, int Blocks, int Products>
TRID_KERNEL void __launch_bounds__(Threads, Blocks) ADI2D_F(p_onchip_kernel)(ADI2D_F(p_launch) launch)
{
    TRID_DYNAMIC_SHARED(adi2d_p_memory);
    __shared__ ADI2D_F(p_chip) chip;
    __shared__ int least;
    ADI2D_F(p_chip_problem)(K, Products, &launch, adi2d_p_memory, &chip, &least);
}

/* A kernel, and how it is launched: in clusters of `size`; bytes of shared memory, 0 if there is none for a batch. */
typedef struct {
    void (*kernel)(ADI2D_F(p_launch));
    int size, threads;
    size_t bytes;
} ADI2D_F(p_chosen);

/* How a batch is to be launched: the smallest cluster whose blocks hold it, larger ones where that leaves the device
   idle, or the size that is asked for. */
template <int K, int Threads, int Blocks, int Products>
static inline ADI2D_F(p_chosen) ADI2D_F(p_choose)(ADI2D_F(p_launch) * launch, int asked)
{
    const ADI2D_F(p_chosen) none = {NULL, 1, Threads, 0};
    ADI2D_F(p_chosen) best = none;
    int device, most = 0, processors = 0;
    void (*kernel)(ADI2D_F(p_launch)) = ADI2D_F(p_onchip_kernel)<K, Threads, Blocks, Products>;
    if (trid_allow_shared(kernel) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return none;
    const int *points = launch->batch.points, wide = 128 / (int)sizeof(ADI2D_R);
    launch->arrays = Products ? 1 : launch->batch.kind == ADI2D_ONE_STAGE ? 2 : 3;
    launch->pitch = (points[0] + wide - 1) / wide * wide;
    launch->width = launch->sections = 1;
    while (launch->width * K < points[0]) launch->width *= 2;
    while (launch->sections * K < points[1]) launch->sections *= 2;
    if (launch->width > 32 || launch->sections > 32) return none;
    for (int blocks = 1; blocks <= 16; blocks *= 2) {
        ADI2D_F(p_chip) chip;
        ADI2D_F(p_launch) trial = *launch;
        trial.each = ((points[1] + blocks - 1) / blocks + K - 1) / K * K;
        /* As many threads as take all lines at once, if there are that many. */
        const int share = (points[0] + blocks - 1) / blocks;
        int team = 32;
        while (team < Threads && (team < launch->sections * share || team < launch->width * trial.each)) team *= 2;
        ADI2D_F(p_chip_lay_out)(K, &trial, team, &chip);
        const size_t need = (size_t)chip.bytes;
        if (need + 1024 > (size_t)most || (asked && blocks != asked)) continue;
        /* A larger one than needed, up to four: only if all problems run at once with it, and its blocks still have
           work. Beyond, waiting for each other costs more than they save. */
        if (best.bytes > 0 &&
            (blocks > 4 || blocks * launch->batch.problems > processors || trial.each * blocks > points[1]))
            break;
        if (blocks > 1 && trid_clusters(kernel, blocks, dim3((unsigned)team), need) < 1) break;
        const ADI2D_F(p_chosen) chosen = {kernel, blocks, team, need};
        best = chosen, launch->each = trial.each;
    }
    return best;
}

/* The kernel that serves a batch. As measured on an H200 (docs/adi2d.md), sixteen rows a thread are best for products;
   for stages in single precision too, unless grids are so small that threads are what is missing; else eight. It
   depends on the grids' sizes alone: what a problem gives does not depend on how many others there are, to the bit. */
template <int Unused = 0>
static inline ADI2D_F(p_chosen) ADI2D_F(p_kernel_of)(ADI2D_F(p_launch) * launch)
{
    enum { THREADS = sizeof(ADI2D_R) == 4 ? 512 : 256 };
    const adi2d_batch *batch = &launch->batch;
    const int *points = batch->points;
    if (batch->kind == ADI2D_PRODUCTS) return ADI2D_F(p_choose)<16, THREADS, 1, 1>(launch, 0);
    if (points[0] <= 256 && points[1] <= 256 && (sizeof(ADI2D_R) == 8 || points[0] * points[1] <= 16384))
        return ADI2D_F(p_choose)<8, 512, 1, 0>(launch, 0);
    return ADI2D_F(p_choose)<16, THREADS, 1, 0>(launch, 0);
}

/* Makes the problems ready, and marches them. */
template <int Unused = 0>
static inline cudaError_t ADI2D_F(p_onchip)(const ADI2D_F(p_launch) * launch, ADI2D_F(p_chosen) chosen,
                                            cudaStream_t stream)
{
    const unsigned problems = (unsigned)launch->batch.problems, threads = (unsigned)chosen.threads;
    if (problems == 0) return cudaSuccess;
    void (*prepare)(ADI2D_F(p_launch)) = ADI2D_F(p_prepare_kernel)<512>;
    cudaError_t error = trid_launch(prepare, dim3(problems), dim3(512), 0, stream, *launch);
    if (error != cudaSuccess) return error;
    const dim3 blocks(problems * (unsigned)chosen.size);
    return chosen.size > 1
               ? trid_launch_cluster(chosen.kernel, blocks, chosen.size, dim3(threads), chosen.bytes, stream, *launch)
               : trid_launch(chosen.kernel, blocks, dim3(threads), chosen.bytes, stream, *launch);
}
}

#endif /* TB_LAUNCHES */

/* ---- the ladder's lower rungs: grids in device memory, a thread a line ------------------------------------------- */

#if TB_LAUNCHES
extern "C++" {

/* Where a problem's arrays are. Of pairs the first has neighbours along x side by side, point (i, j) at i + n[0] j, the
   second those along y, j + n[1] i: what threads with a line each along the other axis read at the speed of memory. */
typedef struct {
    ADI2D_F(p_tables) t;
    unsigned long long *lost;        /* the first step, times 2^32, and the first point in it, that is not finite */
    ADI2D_R *u[2], *z[2], *extra[2]; /* values, a first stage's, exercise's multiplier */
    ADI2D_R *e, *upper, *right;      /* differences after the solves along x; what lines leave on the way up */
} ADI2D_F(p_rung_arrays);

/* What a launch is told; arrays are those of problem 0, and others' lie chip.bytes each further on. */
typedef struct {
    ADI2D_F(p_launch) chip;
    ADI2D_F(p_rung_arrays) arrays;
    int blocks; /* of a problem */
} ADI2D_F(p_rung);

TB_HD size_t ADI2D_F(p_rung_lay_out)(const adi2d_batch *batch, unsigned char *memory, ADI2D_F(p_rung_arrays) * arrays)
{
    ADI2D_F(p_rung_arrays) a;
    size_t used = ADI2D_F(p_lay_out)(batch, memory, &a.t);
    size_t grid = (size_t)batch->points[0] * (size_t)batch->points[1] * sizeof(ADI2D_R);
    ADI2D_R **const grids[] = {&a.u[0], &a.u[1], &a.z[0], &a.z[1], &a.extra[0], &a.extra[1], &a.e, &a.upper, &a.right};
    a.lost = (unsigned long long *)fd_p_at(memory, used);
    used += fd_p_round(sizeof *a.lost);
    for (ADI2D_R **to : grids) {
        *to = (ADI2D_R *)fd_p_at(memory, used);
        used += fd_p_round(grid);
    }
    if (arrays) *arrays = a;
    return used;
}

/* The arrays of a problem. */
template <class T>
TB_D void ADI2D_F(p_rung_move)(T *&pointer, size_t offset)
{
    pointer = (T *)((unsigned char *)pointer + offset);
}
TB_D ADI2D_F(p_rung_arrays) ADI2D_F(p_rung_of)(const ADI2D_F(p_rung) & launch, int which)
{
    ADI2D_F(p_rung_arrays) a = launch.arrays;
    const size_t offset = (size_t)which * launch.chip.bytes;
    ADI2D_F(p_rung_move)(a.t.plan, offset), ADI2D_F(p_rung_move)(a.t.step, offset);
    ADI2D_F(p_rung_move)(a.t.time, offset), ADI2D_F(p_rung_move)(a.t.pace, offset);
    ADI2D_F(p_rung_move)(a.t.final, offset), ADI2D_F(p_rung_move)(a.lost, offset);
    for (int d = 0; d < 2; d++) {
        ADI2D_F(p_rung_move)(a.t.x[d], offset), ADI2D_F(p_rung_move)(a.t.cell[d], offset);
        ADI2D_F(p_rung_move)(a.t.far_of[d], offset), ADI2D_F(p_rung_move)(a.t.number[d], offset);
        ADI2D_F(p_rung_move)(a.u[d], offset), ADI2D_F(p_rung_move)(a.z[d], offset);
        ADI2D_F(p_rung_move)(a.extra[d], offset);
    }
    ADI2D_F(p_rung_move)(a.e, offset), ADI2D_F(p_rung_move)(a.upper, offset), ADI2D_F(p_rung_move)(a.right, offset);
    return a;
}

enum { ADI2D_F(p_rung_threads) = 64, ADI2D_F(p_rung_set_up_threads) = 256, ADI2D_F(p_rung_back) = 8 };

/* What a line's thread holds of its problem. */
typedef struct {
    ADI2D_F(p_rung_arrays) a;
    const adi2d_problem *problem;
    const ADI2D_M(parameters) * parameters;
    ADI2D_G(adi2d_p_pace) pace;
    int n[2], step, changes; /* changes: does F at the step's end differ from that at its start? */
} ADI2D_F(p_rung_line);

TB_D ADI2D_F(p_rung_line) ADI2D_F(p_rung_line_of)(const ADI2D_F(p_rung) & launch, int which, int step)
{
    ADI2D_F(p_rung_line) l;
    l.a = ADI2D_F(p_rung_of)(launch, which);
    l.problem = &launch.chip.batch.problem[which], l.parameters = &launch.chip.parameters[which];
    l.n[0] = l.a.t.plan->points[0], l.n[1] = l.a.t.plan->points[1], l.step = step;
    l.pace = l.a.t.pace[step];
    l.changes = !l.pace.of.still;
    for (int f = 0; f < 4; f++) l.changes |= l.problem->face[f / 2][f % 2] == FD_SLOPE;
    return l;
}

/* Is there a step of that number, and such a stage in it? */
TB_D int ADI2D_F(p_rung_due)(const ADI2D_F(p_tables) & t, int step, int second)
{
    return !t.plan->status.what && step < t.plan->steps && second < t.pace[step].of.stages;
}

/* The terms at point (i, j), at the start (end 0) or the end of the step. */
TB_D ADI2D_G(adi2d_terms) ADI2D_F(p_rung_terms)(const ADI2D_F(p_rung_line) & l, int end, int i, int j)
{
    return ADI2D_F(p_terms)(&l.a.t, i, j, l.a.t.time + (2 * l.step + end) * ADI2D_F(p_of_t));
}

/* What a face is given. */
TB_D ADI2D_R ADI2D_F(p_rung_given)(const ADI2D_F(p_rung_line) & l, int axis, int side, int end, int i, int j)
{
    const fd_step *step = &l.a.t.step[l.step];
    return (ADI2D_R)ADI2D_M(p_face)(l.parameters, axis, side, l.a.t.x[1 - axis][axis ? i : j],
                                    end ? step->to : step->from);
}

/* Does a face of that kind add something to F? */
TB_D int ADI2D_F(p_rung_adds)(int kind)
{
    return kind == FD_SLOPE || kind == FD_DEGENERATE;
}

/* What the faces of the axes from first_axis on add to F_1 and F_2 of v at (i, j); along[d]: from a point to the next
   along axis d. */
TB_D void ADI2D_F(p_rung_faces)(const ADI2D_F(p_rung_line) & l, int first_axis, int end, int i, int j, const ADI2D_R *v,
                                const int *along, ADI2D_R *f)
{
    const ADI2D_R *time = l.a.t.time + (2 * l.step + end) * ADI2D_F(p_of_t);
    const ADI2D_R *here = v + i * along[0] + j * along[1];
    for (int axis = first_axis; axis < 2; axis++) {
        const int at = axis ? j : i, last = at == l.n[axis] - 1, in = last ? -along[axis] : along[axis];
        if (at > 0 && !last) continue;
        const int kind = l.problem->face[axis][last];
        if (!ADI2D_F(p_rung_adds)(kind)) continue;
        ADI2D_R given = kind == FD_SLOPE ? ADI2D_F(p_rung_given)(l, axis, last, end, i, j) : 0;
        f[1 + axis] += ADI2D_F(p_at_face)(l.problem, &l.a.t, axis, last, i, j, time, given, here[in], here[2 * in]);
    }
}

/* F_0, F_1 and F_2 at a point from the nine values around it, without what faces add. */
TB_D void ADI2D_F(p_rung_parts)(ADI2D_G(fd_cell) x, ADI2D_G(fd_cell) y, const ADI2D_G(adi2d_terms) & terms,
                                const ADI2D_R *nine, ADI2D_R *f)
{
    const ADI2D_R kill = terms.kill / 2 * nine[4];
    f[0] = ADI2D_M(mixed) ? terms.mixed * ADI2D_G(fd_lane_mixed)(x, y, nine) : 0;
    f[1] = ADI2D_G(fd_lane_apply)(ADI2D_F(p_row)(0, x, terms), nine[3], nine[4], nine[5]) - kill;
    f[2] = ADI2D_G(fd_lane_apply)(ADI2D_F(p_row)(1, y, terms), nine[1], nine[4], nine[7]) - kill;
}

/* A row of a line: matrix, right-hand side, and what a third point has in it at a face that is FD_DEGENERATE. */
typedef struct {
    ADI2D_R a, b, c, d, third;
} ADI2D_F(p_rung_row);

/* The matrix of the row along an axis at (i, j), from terms at the step's end; may it be at a face? before: the value
   that the solution is the difference from. */
TB_D void ADI2D_F(p_rung_matrix)(const ADI2D_F(p_rung_line) & l, int axis, int may_be, ADI2D_G(fd_cell) cell,
                                 const ADI2D_G(adi2d_terms) & terms, int i, int j, ADI2D_R before,
                                 ADI2D_F(p_rung_row) * row)
{
    const int at = axis ? j : i, last = at == l.n[axis] - 1, at_face = may_be && (at == 0 || last);
    ADI2D_F(p_matrix)
    (ADI2D_F(p_row)(axis, cell, terms), at_face, l.pace.of.size, terms.kill, &row->a, &row->b, &row->c);
    row->third = 0;
    if (!at_face) return;
    const int kind = l.problem->face[axis][last];
    if (kind == FD_VALUE) {
        row->a = row->c = 0, row->b = 1;
        row->d = ADI2D_F(p_rung_given)(l, axis, last, 1, i, j) - before;
    }
    if (kind == FD_DEGENERATE) row->third = l.pace.of.size * terms.drift[axis] * l.a.t.far_of[axis][last];
}

/* Thomas along a line of n rows whose elements are `stride` apart in upper and right, which it overwrites; right may be
   what rows are made from. The lane of a thread that is not active does nothing but come along. In order: row(k, &row)
   of the rows at the ends and next to them, of others, if the line is plain, rows(k, row) of AHEAD at a time, which
   neither branch nor write, so that the compiler can mix them; then, from the last row back, put(k, solution,
   again(k)), and flush(k) of each k that is a multiple of 32, once all from k on are put. */
template <int AHEAD, class One, class Some, class Again, class Put, class Flush>
TB_D void ADI2D_F(p_rung_thomas)(int n, int active, int plain, int stride, ADI2D_R *upper, ADI2D_R *right, One row,
                                 Some rows, Again again, Put put, Flush flush)
{
    ADI2D_R c = 0, x = 0;
    ADI2D_F(p_rung_row) ready = {0, 1, 0, 0, 0}; /* the row before, which a face may still change */
    auto eliminate = [&](int k) {
        const ADI2D_R r = ADI2D_G(trid_rcp)(ready.b - ready.a * c);
        right[k * stride] = x = (ready.d - ready.a * x) * r;
        upper[k * stride] = c = ready.c * r;
    };
    for (int from = 0; from <= n && active;) {
        ADI2D_F(p_rung_row) next[AHEAD];
        if (plain && from > 1 && from + AHEAD < n) {
            rows(from, next);
            TB_UNROLL
            for (int q = 0; q < AHEAD; q++) {
                eliminate(from + q - 1);
                ready = next[q];
            }
            from += AHEAD;
            continue;
        }
        next[0] = ready;
        if (from < n) row(from, &next[0]);
        if (from == 1 && (ready.third < 0 || ready.third > 0))
            ready.d -= ADI2D_G(fd_lane_face_three)(ready.third, &ready.b, &ready.c, next[0].a, next[0].b, next[0].c) *
                       next[0].d;
        if (from == n - 1 && (next[0].third < 0 || next[0].third > 0))
            next[0].d -=
                ADI2D_G(fd_lane_face_three)(next[0].third, &next[0].b, &next[0].a, ready.c, ready.b, ready.a) * ready.d;
        if (from > 0) eliminate(from - 1);
        ready = next[0];
        from++;
    }
    x = 0;
    for (int from = (n - 1) / ADI2D_F(p_rung_back) * ADI2D_F(p_rung_back); from >= 0; from -= ADI2D_F(p_rung_back)) {
        ADI2D_R over[ADI2D_F(p_rung_back)], value[ADI2D_F(p_rung_back)], old[ADI2D_F(p_rung_back)];
        TB_UNROLL
        for (int q = 0; q < ADI2D_F(p_rung_back); q++) {
            const int there = from + q < n ? from + q : 0; /* beyond the last row any number will do */
            over[q] = active ? upper[there * stride] : 0, value[q] = active ? right[there * stride] : 0;
            old[q] = active ? again(there) : 0;
        }
        TB_UNROLL
        for (int q = ADI2D_F(p_rung_back) - 1; q >= 0; q--) {
            if (from + q >= n) continue;
            x = from + q < n - 1 ? value[q] - over[q] * x : value[q];
            put(from + q, x, old[q]);
        }
        if (from % 32 == 0) flush(from);
    }
}

/* A warp's part of a transposition: row q of the tile is element from + q of the lines, which lie side by side from
   line `first` on; each goes to n elements of its own. */
TB_D void ADI2D_F(p_rung_turn)(const ADI2D_R (*tile)[33], int first, int lines, int from, int n, ADI2D_R *to)
{
    const int lane = (int)threadIdx.x % 32;
    __syncwarp();
    for (int l = 0; l < 32 && first + l < lines; l++)
        if (from + lane < n) to[(size_t)(first + l) * (size_t)n + (size_t)(from + lane)] = tile[lane][l];
    __syncwarp();
}

/* Solves along x, from the right-hand sides on: thread j of problem blockIdx.x / blocks. ACROSS: by arrays whose lines
   lie side by side, and e is transposed on the way out. */
template <int ACROSS, int SECOND>
TRID_KERNEL void __launch_bounds__(ADI2D_F(p_rung_threads)) ADI2D_F(p_rung_x)(ADI2D_F(p_rung) launch, int step)
{
    enum { AHEAD = sizeof(ADI2D_R) == 4 ? 4 : 2 };
    __shared__ ADI2D_R tiles[ACROSS ? ADI2D_F(p_rung_threads) / 32 : 1][ACROSS ? 32 : 1][33];
    const int which = (int)blockIdx.x / launch.blocks, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (!ADI2D_F(p_rung_due)(ADI2D_F(p_rung_of)(launch, which).t, step, SECOND)) return;
    const ADI2D_F(p_rung_line) l = ADI2D_F(p_rung_line_of)(launch, which, step);
    const int first = ((int)blockIdx.x % launch.blocks) * ADI2D_F(p_rung_threads) + 32 * warp, j = first + lane;
    if (first >= l.n[1]) return;
    const int n = l.n[0], mine = j < l.n[1] ? j : 0;
    const int along[2] = {ACROSS ? l.n[1] : 1, ACROSS ? 1 : n}, line = mine * along[1];
    const int below = mine > 0 ? -along[1] : 0, above = mine < l.n[1] - 1 ? along[1] : 0;
    const ADI2D_R *v[2] = {l.a.u[ACROSS] + line, l.a.z[ACROSS] + line}, *extra = l.a.extra[ACROSS] + line;
    const int american = l.problem->exercise == FD_AMERICAN, about = SECOND && l.pace.of.about;
    const ADI2D_G(fd_cell) cell_y = l.a.t.cell[1][mine];

    /* The nine values around a point, from three columns of three. */
    auto column = [&](int which, int i, ADI2D_R *to) {
        const ADI2D_R *here = v[which] + i * along[0];
        to[0] = here[below], to[1] = here[0], to[2] = here[above];
    };
    auto nine_of = [&](const ADI2D_R *columns, ADI2D_R *nine) {
        for (int m = 0; m < 9; m++) nine[m] = columns[m % 3 * 3 + m / 3];
    };
    /* A row from columns of u and z; whether F changes in the step, and whether there may be faces, are literals. */
    auto make = [&](int i, int changes, int may_be, const ADI2D_R *of_u, const ADI2D_R *of_z,
                    ADI2D_F(p_rung_row) * row) {
        const ADI2D_G(fd_cell) cell = l.a.t.cell[0][i];
        const ADI2D_G(adi2d_terms) end = ADI2D_F(p_rung_terms)(l, 1, i, mine);
        ADI2D_R nine[9], f[3], later[3], before;
        nine_of(of_u, nine);
        before = nine[4];
        ADI2D_F(p_rung_parts)(cell, cell_y, changes ? ADI2D_F(p_rung_terms)(l, 0, i, mine) : end, nine, f);
        if (may_be) ADI2D_F(p_rung_faces)(l, 0, 0, i, mine, l.a.u[ACROSS], along, f);
        row->d = l.pace.of.base[SECOND][0] * f[0] + l.pace.of.base[SECOND][1] * (f[1] + f[2]);
        if (changes && !about) {
            ADI2D_F(p_rung_parts)(cell, cell_y, end, nine, later);
            if (may_be) ADI2D_F(p_rung_faces)(l, 0, 1, i, mine, l.a.u[ACROSS], along, later);
            row->d += l.pace.of.size * (later[1] - f[1]);
        }
        if (american) row->d += l.pace.of.dt * extra[i * along[0]];
        if (SECOND) {
            nine_of(of_z, nine);
            ADI2D_F(p_rung_parts)(cell, cell_y, end, nine, f);
            if (may_be) ADI2D_F(p_rung_faces)(l, 0, 1, i, mine, l.a.z[ACROSS], along, f);
            row->d += l.pace.of.base[SECOND][2] * f[0] + l.pace.of.base[SECOND][3] * (f[1] + f[2]);
            if (about) row->d += before - nine[4], before = nine[4];
        }
        ADI2D_F(p_rung_matrix)(l, 0, may_be, cell, end, i, mine, before, row);
    };
    auto row = [&](int i, ADI2D_F(p_rung_row) * to) {
        ADI2D_R of[2][9];
        for (int m = 0; m < 3 * (1 + SECOND); m++) {
            const int at = i + m % 3 - 1;
            column(m / 3, at < 0 ? 0 : at < n ? at : n - 1, &of[m / 3][m % 3 * 3]);
        }
        make(i, 1, 1, of[0], of[1], to);
    };
    auto rows = [&](int i, ADI2D_F(p_rung_row) * to) {
        ADI2D_R of[2][3 * (AHEAD + 2)];
        TB_UNROLL
        for (int m = 0; m < (AHEAD + 2) * (1 + SECOND); m++)
            column(m / (AHEAD + 2), i - 1 + m % (AHEAD + 2), &of[m / (AHEAD + 2)][m % (AHEAD + 2) * 3]);
        if (l.changes) {
            TB_UNROLL
            for (int q = 0; q < AHEAD; q++) make(i + q, 1, 0, &of[0][3 * q], &of[1][3 * q], &to[q]);
        } else {
            TB_UNROLL
            for (int q = 0; q < AHEAD; q++) make(i + q, 0, 0, &of[0][3 * q], &of[1][3 * q], &to[q]);
        }
    };
    auto none = [&](int) { return (ADI2D_R)0; };
    auto put = [&](int i, ADI2D_R x, ADI2D_R) {
        if (ACROSS)
            tiles[ACROSS ? warp : 0][ACROSS ? i % 32 : 0][lane] = x;
        else if (j < l.n[1])
            l.a.e[line + i] = x;
    };
    auto flush = [&](int from) {
        if (ACROSS) ADI2D_F(p_rung_turn)(tiles[ACROSS ? warp : 0], first, l.n[1], from, n, l.a.e);
    };
    /* Lines along a face that adds something to F take their rows one by one. */
    int plain = 1;
    for (int side = 0; side < 2; side++)
        if (mine == (side ? l.n[1] - 1 : 0) && ADI2D_F(p_rung_adds)(l.problem->face[1][side])) plain = 0;
    ADI2D_F(p_rung_thomas)<AHEAD>(n, j < l.n[1], plain, along[0], l.a.upper + line, l.a.right + line, row, rows, none,
                                  put, flush);
}

/* Solves along y, thread i, and what follows a stage: values are u or z; the last stage ends a step. */
template <int ACROSS, int SECOND>
TRID_KERNEL void __launch_bounds__(ADI2D_F(p_rung_threads)) ADI2D_F(p_rung_y)(ADI2D_F(p_rung) launch, int step)
{
    __shared__ ADI2D_R tiles[ACROSS ? ADI2D_F(p_rung_threads) / 32 : 1][ACROSS ? 32 : 1][33];
    const int which = (int)blockIdx.x / launch.blocks, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (!ADI2D_F(p_rung_due)(ADI2D_F(p_rung_of)(launch, which).t, step, SECOND)) return;
    const ADI2D_F(p_rung_line) l = ADI2D_F(p_rung_line_of)(launch, which, step);
    const int first = ((int)blockIdx.x % launch.blocks) * ADI2D_F(p_rung_threads) + 32 * warp, i = first + lane;
    if (first >= l.n[0]) return;
    enum { AHEAD = 8 };
    const int n = l.n[1], active = i < l.n[0], mine = active ? i : 0, stride = l.n[0], along[2] = {1, stride};
    const int about = SECOND && l.pace.of.about, last = SECOND == l.pace.of.stages - 1;
    const int exercise = last ? l.problem->exercise : FD_EUROPEAN;
    const ADI2D_R *u = l.a.u[0] + mine, *w = about ? l.a.z[0] + mine : u, *final = l.a.t.final + mine;
    ADI2D_R *to = last ? l.a.u[0] + mine : l.a.z[0] + mine, *extra = l.a.extra[0] + mine, *e = l.a.e + mine;
    /* A line along a face whose value is given: the solve along x has set it. */
    const int given = (mine == 0 || mine == l.n[0] - 1) && l.problem->face[0][mine > 0] == FD_VALUE;
    const ADI2D_G(fd_cell) cell_x = l.a.t.cell[0][mine];
    int lost = -1;

    auto make = [&](int j, int changes, int may_be, ADI2D_F(p_rung_row) * row) {
        const ADI2D_G(fd_cell) cell = l.a.t.cell[1][j];
        const ADI2D_G(adi2d_terms) end = ADI2D_F(p_rung_terms)(l, 1, mine, j);
        row->d = e[j * stride];
        if (changes && !about) {
            ADI2D_R f[3], later[3], nine[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
            nine[4] = u[j * stride];
            nine[1] = j > 0 ? u[(j - 1) * stride] : nine[4];
            nine[7] = j < n - 1 ? u[(j + 1) * stride] : nine[4];
            ADI2D_F(p_rung_parts)(cell_x, cell, ADI2D_F(p_rung_terms)(l, 0, mine, j), nine, f);
            ADI2D_F(p_rung_parts)(cell_x, cell, end, nine, later);
            if (may_be) {
                ADI2D_F(p_rung_faces)(l, 1, 0, mine, j, l.a.u[0], along, f);
                ADI2D_F(p_rung_faces)(l, 1, 1, mine, j, l.a.u[0], along, later);
            }
            row->d += l.pace.of.size * (later[2] - f[2]);
        }
        ADI2D_F(p_rung_matrix)(l, 1, may_be, cell, end, mine, j, may_be ? w[j * stride] : 0, row);
    };
    auto row = [&](int j, ADI2D_F(p_rung_row) * to_row) {
        make(j, 1, 1, to_row);
        if (given) to_row->a = to_row->c = to_row->third = 0, to_row->b = 1, to_row->d = e[j * stride];
    };
    auto rows = [&](int j, ADI2D_F(p_rung_row) * to_row) {
        if (l.changes) {
            TB_UNROLL
            for (int q = 0; q < AHEAD; q++) make(j + q, 1, 0, &to_row[q]);
        } else {
            TB_UNROLL
            for (int q = 0; q < AHEAD; q++) make(j + q, 0, 0, &to_row[q]);
        }
    };
    auto again = [&](int j) { return w[j * stride]; };
    auto put = [&](int j, ADI2D_R x, ADI2D_R before) {
        const int at = j * stride;
        ADI2D_R value = before + x;
        if (exercise != FD_EUROPEAN && active) {
            ADI2D_R more = extra[at];
            value = ADI2D_G(fd_lane_exercise)(exercise, l.pace.of.dt, final[at], value, &more);
            extra[at] = more;
        }
        if (active) {
            to[at] = value;
            if (!ADI2D_G(trid_finite)(value)) lost = at + mine;
        }
        if (ACROSS) tiles[ACROSS ? warp : 0][ACROSS ? j % 32 : 0][lane] = value;
    };
    auto flush = [&](int from) {
        if (!ACROSS) return;
        ADI2D_R(*tile)[33] = tiles[ACROSS ? warp : 0];
        ADI2D_F(p_rung_turn)(tile, first, l.n[0], from, n, last ? l.a.u[1] : l.a.z[1]);
        if (exercise != FD_AMERICAN) return;
        for (int j = from; j < n && j < from + 32; j++)
            if (active) tile[ACROSS ? j % 32 : 0][lane] = extra[j * stride];
        ADI2D_F(p_rung_turn)(tile, first, l.n[0], from, n, l.a.extra[1]);
    };
    ADI2D_F(p_rung_thomas)<AHEAD>(n, active, !given, stride, l.a.upper + mine, e, row, rows, again, put, flush);
    if (last && lost >= 0) atomicMin(l.a.lost, (unsigned long long)step << 32 | (unsigned long long)lost);
}

/* Value and derivatives at the spot. */
TB_D adi2d_values ADI2D_F(p_rung_values)(const ADI2D_F(p_rung_arrays) & a)
{
    const fd_weights *at = a.t.plan->at;
    ADI2D_R around[16];
    for (int k = 0; k < 16; k++)
        around[k] = a.u[0][(size_t)(at[1].first + k / 4) * (size_t)a.t.plan->points[0] + (size_t)(at[0].first + k % 4)];
    return ADI2D_F(p_values)(a.t.plan, around);
}

/* What happens at the date that ends a step, if one does. A block a problem. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI2D_F(p_rung_set_up_threads))
    ADI2D_F(p_rung_date)(ADI2D_F(p_rung) launch, int step)
{
    const int which = (int)blockIdx.x, threads = (int)blockDim.x;
    const ADI2D_F(p_rung_arrays) a = ADI2D_F(p_rung_of)(launch, which);
    const adi2d_problem *problem = &launch.chip.batch.problem[which];
    if (!ADI2D_F(p_rung_due)(a.t, step, 0) || a.t.pace[step].of.date < 0 || !problem->at_date) return;
    const int date = a.t.pace[step].of.date, n0 = a.t.plan->points[0], n1 = a.t.plan->points[1], all = n0 * n1;
    int added = 0;
    const fd_date event = problem->at_date[date];
    const double *x = a.t.x[0];
    for (int at = (int)threadIdx.x; at < all; at += threads) {
        const int i = at % n0, j = at / n0;
        ADI2D_R value = a.u[0][at], final = a.t.final[at];
        fd_weights from;
        if ((event.what & FD_SHIFT) && !fd_interpolate(n0, x, fd_shifted(&event, x[i], x[0], x[n0 - 1]), &from)) {
            double sum = 0;
            for (int m = 0; m < 4; m++) sum += from.value[m] * (double)a.u[0][j * n0 + from.first + m];
            value = (ADI2D_R)sum;
        }
        if (event.what & FD_CHANGE_VALUES) {
            const double before = (double)value;
            value = (ADI2D_R)ADI2D_M(p_change)(&launch.chip.parameters[which], date, x[i], a.t.x[1][j], before);
            added = fd_p_larger(added, fd_p_added(before, (double)value));
        }
        a.e[at] = value = ADI2D_G(fd_lane_at_date)(event.what, problem->exercise, final, value, &a.extra[0][at]);
        if (!ADI2D_G(trid_finite)(value)) atomicMin(a.lost, (unsigned long long)step << 32 | (unsigned long long)at);
    }
    if (added) fd_p_most(&a.t.plan->given, added);
    __syncthreads();
    for (int at = (int)threadIdx.x; at < all; at += threads) {
        const int across = at % n0 * n1 + at / n0;
        a.u[0][at] = a.u[1][across] = a.e[at];
        a.extra[1][across] = a.extra[0][at];
    }
    __syncthreads();
    if ((event.what & FD_RECORD) && threadIdx.x == 0)
        launch.chip.batch.values[(size_t)which * (size_t)(1 + launch.chip.batch.dates) + (size_t)(1 + date)] =
            ADI2D_F(p_rung_values)(a);
}

/* The first values of a problem that is ready; ACROSS: also with neighbours along y side by side. A block a problem. */
template <int ACROSS>
TRID_KERNEL void __launch_bounds__(ADI2D_F(p_rung_set_up_threads)) ADI2D_F(p_rung_start)(ADI2D_F(p_rung) launch)
{
    const ADI2D_F(p_rung_arrays) a = ADI2D_F(p_rung_of)(launch, (int)blockIdx.x);
    if (threadIdx.x == 0) *a.lost = ~0ull;
    if (a.t.plan->status.what) return;
    const int n0 = a.t.plan->points[0], n1 = a.t.plan->points[1];
    for (int at = (int)threadIdx.x; at < n0 * n1; at += (int)blockDim.x) {
        const int across = at % n0 * n1 + at / n0;
        a.u[0][at] = a.t.final[at], a.extra[0][at] = 0;
        if (ACROSS) a.u[1][across] = a.t.final[at], a.extra[1][across] = 0;
    }
}

/* Status, values and grid. Where a value was lost, the model is asked whether its terms were finite then. A block a
   problem. */
template <int Unused>
TRID_KERNEL void __launch_bounds__(ADI2D_F(p_rung_set_up_threads)) ADI2D_F(p_rung_finish)(ADI2D_F(p_rung) launch)
{
    __shared__ int wrong, largest;
    const int which = (int)blockIdx.x, threads = (int)blockDim.x, row = launch.chip.batch.points[0];
    const ADI2D_F(p_rung_arrays) a = ADI2D_F(p_rung_of)(launch, which);
    const int n0 = a.t.plan->points[0], n1 = a.t.plan->points[1];
    fd_status status = a.t.plan->status;
    if (!status.what && *a.lost != ~0ull) {
        const int step = (int)(*a.lost >> 32), at = (int)(*a.lost & 0xffffffffu), weak = status.weak;
        if (threadIdx.x == 0) wrong = FD_P_NONE;
        __syncthreads();
        for (int k = (int)threadIdx.x; k < 2 * n0 * n1; k += threads)
            if (!ADI2D_F(p_finite)(
                    ADI2D_F(p_terms)(&a.t, k / 2 % n0, k / 2 / n0, a.t.time + (2 * step + k % 2) * ADI2D_F(p_of_t))))
                fd_p_least(&wrong, k / 2);
        __syncthreads();
        status = wrong != FD_P_NONE ? adi2d_p_status(FD_MODEL_NAN, 0, -1, wrong % n0, wrong / n0, step)
                                    : adi2d_p_status(FD_NOT_SOLVED, 0, -1, at % n0, at / n0, step);
        status.weak = weak;
    } else if (!status.what) {
        int mine = 0;
        if (threadIdx.x == 0) largest = 0;
        __syncthreads();
        for (int k = (int)threadIdx.x; k < n0 * n1; k += threads) mine = fd_p_larger(mine, (double)a.u[0][k]);
        fd_p_most(&largest, mine);
        __syncthreads();
        fd_p_grown(&status, a.t.plan->given, largest);
    }
    if (threadIdx.x == 0) launch.chip.batch.status[which] = status;
    if (status.what) {
        ADI2D_F(p_nothing)(&launch.chip.batch, which, (int)threadIdx.x, threads);
        return;
    }
    ADI2D_R *grid = (ADI2D_R *)launch.chip.batch.grid;
    if (grid) grid += (size_t)which * (size_t)row * (size_t)launch.chip.batch.points[1];
    for (int k = (int)threadIdx.x; k < n0 * n1 && grid; k += threads) grid[k / n0 * row + k % n0] = a.u[0][k];
    if (threadIdx.x == 0)
        launch.chip.batch.values[(size_t)which * (size_t)(1 + launch.chip.batch.dates)] = ADI2D_F(p_rung_values)(a);
}

/* Launches all kernels of a rung. */
template <int ACROSS>
static inline cudaError_t ADI2D_F(p_rung_march)(const adi2d_batch *batch, const ADI2D_M(parameters) * parameters,
                                                void *memory, cudaStream_t stream)
{
    enum { THREADS = ADI2D_F(p_rung_threads), SET_UP = ADI2D_F(p_rung_set_up_threads) };
    if (adi2d_check(batch) || (batch->problems > 0 && (!parameters || !memory)))
        return ADI2D_F(p_refuse)(batch, stream);
    if (batch->problems == 0) return cudaSuccess;
    ADI2D_F(p_rung) launch;
    memset(&launch, 0, sizeof launch);
    launch.chip.batch = *batch, launch.chip.parameters = parameters, launch.chip.memory = (unsigned char *)memory;
    launch.chip.bytes = ADI2D_F(p_rung_lay_out)(batch, (unsigned char *)memory, &launch.arrays);
    int blocks[2];
    for (int d = 0; d < 2; d++) blocks[d] = (batch->points[1 - d] + THREADS - 1) / THREADS;
    const dim3 each((unsigned)batch->problems), set_up(SET_UP), threads(THREADS);
    cudaError_t error = trid_launch(ADI2D_F(p_prepare_kernel) < SET_UP >, each, set_up, 0, stream, launch.chip);
    if (error == cudaSuccess) error = trid_launch(ADI2D_F(p_rung_start) < ACROSS >, each, set_up, 0, stream, launch);
    for (int k = 0; k < batch->steps && error == cudaSuccess; k++) {
        for (int second = 0; second < (batch->kind == ADI2D_TWO_STAGES ? 2 : 1) && error == cudaSuccess; second++) {
            launch.blocks = blocks[0];
            dim3 grid((unsigned)batch->problems * (unsigned)blocks[0]);
            error = trid_launch(second ? ADI2D_F(p_rung_x) < ACROSS, 1 > : ADI2D_F(p_rung_x) < ACROSS, 0 >, grid,
                                threads, 0, stream, launch, k);
            launch.blocks = blocks[1];
            grid.x = (unsigned)batch->problems * (unsigned)blocks[1];
            if (error == cudaSuccess)
                error = trid_launch(second ? ADI2D_F(p_rung_y) < ACROSS, 1 > : ADI2D_F(p_rung_y) < ACROSS, 0 >, grid,
                                    threads, 0, stream, launch, k);
        }
        if (batch->dates > 0 && error == cudaSuccess)
            error = trid_launch(ADI2D_F(p_rung_date) < 0 >, each, set_up, 0, stream, launch, k);
    }
    if (error == cudaSuccess) error = trid_launch(ADI2D_F(p_rung_finish) < 0 >, each, set_up, 0, stream, launch);
    return error;
}

/* Solves   how much device memory MODEL_naive and MODEL_coalesced need
   Returns  bytes, for which its pointers may still be null; 0 for a batch that is none (adi2d_check) */
template <int Unused = 0>
static inline size_t ADI2D_F(rung_bytes)(const adi2d_batch *batch)
{
    return adi2d_p_sizes(batch) ? 0 : (size_t)batch->problems * ADI2D_F(p_rung_lay_out)(batch, NULL, NULL);
}

/* Solves   the problems of a batch of any size, their grids in device memory, a thread a line: the plain version, whose
            solves along x read and write memory at places that lie apart
   Needs    as MODEL_onchip, memory of rung_bytes
   Leaves   status and values, the grid's values and coordinates, once the stream has come so far
   Returns  cudaSuccess, the error of a launch, or cudaErrorInvalidValue for a batch that is none, or null pointers,
            which leaves FD_BAD_ARGUMENT and NaN
   Cost     two launches a stage, one more a step where there are dates; in a first stage a point is read and written 13
            times */
template <int Unused = 0>
static inline cudaError_t ADI2D_F(naive)(const adi2d_batch *batch, const ADI2D_M(parameters) * parameters, void *memory,
                                         cudaStream_t stream)
{
    return ADI2D_F(p_rung_march)<0>(batch, parameters, memory, stream);
}

/* Solves   the same, grids kept in both orders and turned by tiles in shared memory where a solve ends: neighbouring
            threads always read and write neighbours
   Cost     as MODEL_naive, and a point is written once more */
template <int Unused = 0>
static inline cudaError_t ADI2D_F(coalesced)(const adi2d_batch *batch, const ADI2D_M(parameters) * parameters,
                                             void *memory, cudaStream_t stream)
{
    return ADI2D_F(p_rung_march)<1>(batch, parameters, memory, stream);
}
/* ---- the batch on chip, where it fits ---------------------------------------------------------------------------- */

/* Device memory of one problem on chip. */
TB_HD size_t ADI2D_F(p_onchip_bytes)(const adi2d_batch *batch)
{
    size_t grid = (size_t)batch->points[0] * (size_t)batch->points[1] * sizeof(ADI2D_R);
    return ADI2D_F(p_lay_out)(batch, NULL, NULL) + fd_p_round(grid);
}

/* Solves   how much device memory MODEL_onchip needs on the current device
   Returns  bytes, for which its pointers may still be null; 0 for a batch that is none (adi2d_check) */
template <int Unused = 0>
static inline size_t ADI2D_F(onchip_bytes)(const adi2d_batch *batch)
{
    if (adi2d_p_sizes(batch)) return 0;
    ADI2D_F(p_launch) launch;
    memset(&launch, 0, sizeof launch);
    launch.batch = *batch;
    if (ADI2D_F(p_kernel_of)(&launch).bytes == 0) return ADI2D_F(rung_bytes)(batch);
    return ADI2D_F(p_onchip_bytes)(batch) * (size_t)batch->problems;
}

/* Solves   the problems of a batch, each by the block or the cluster of blocks that holds its grid, all steps in one
            kernel; a batch whose grids none holds, as MODEL_coalesced
   Needs    a batch whose pointers, and those in its problems, are to device memory, as are parameters (of each problem)
            and memory (of onchip_bytes, aligned to 128)
   Leaves   status and values, the grid's values and coordinates, once the stream has come so far
   Returns  cudaSuccess, the error of a launch, or cudaErrorInvalidValue for a batch that is none, or null pointers,
            which leaves FD_BAD_ARGUMENT and NaN
   Cost     two launches, no transfer; shared memory of one array of the grid a problem with ADI2D_PRODUCTS, two with
            ADI2D_ONE_STAGE, else three */
template <int Unused = 0>
static inline cudaError_t ADI2D_F(onchip)(const adi2d_batch *batch, const ADI2D_M(parameters) * parameters,
                                          void *memory, cudaStream_t stream)
{
    if (adi2d_check(batch) || (batch->problems > 0 && (!parameters || !memory)))
        return ADI2D_F(p_refuse)(batch, stream);
    ADI2D_F(p_launch) launch;
    memset(&launch, 0, sizeof launch);
    launch.batch = *batch, launch.parameters = parameters, launch.memory = (unsigned char *)memory;
    launch.bytes = ADI2D_F(p_onchip_bytes)(batch);
    const ADI2D_F(p_chosen) chosen = ADI2D_F(p_kernel_of)(&launch);
    return chosen.bytes > 0 ? ADI2D_F(p_onchip)(&launch, chosen, stream)
                            : ADI2D_F(coalesced)(batch, parameters, memory, stream);
}
}

#endif /* TB_LAUNCHES */

#undef ADI2D_R
#undef ADI2D_F
#undef ADI2D_G
#undef ADI2D_P_FAR
#undef ADI2D_P_JOIN_G
#undef ADI2D_P_JOIN_G2
#endif /* ADI2D_P_REAL */
#endif /* ADI2D_MODEL */
