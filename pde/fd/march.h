/* march.h - a room of fd.h: the common part of marches in any number of factors.
   MIT licence, see LICENSE. */

/* The time at which a step takes its coefficients. Values and slopes given at faces are always those of the step's own
   start and end. */
enum {
    FD_BOTH_ENDS, /* as the scheme defines it (fd_stage): those of F(u) at the step's start, all others at its end */
    FD_MIDDLE,    /* all in the middle of the step: also of second order */
    FD_NEW_END    /* all at the step's end: of first order */
};

/* How the final values of a march are set. */
enum {
    FD_AT_POINTS,  /* the payoff at each point */
    FD_TOLD,       /* averaged along x over cells that contain one of the given kinks or jumps */
    FD_AVERAGED_X, /* averaged along x over cells with a kink or jump, which is searched for in every cell */
    FD_AVERAGED    /* the same along all axes: far more calls for each cell with a kink or jump */
};

/* Early exercise keeps the value from falling below the payoff of exercise: the model's (MODEL_exercise) or, if it has
   none, the final value. */
enum {
    FD_EUROPEAN, /* no early exercise */
    FD_AMERICAN, /* operator splitting of Ikonen and Toivanen: a multiplier carries the amount added by exercise */
    FD_PROJECTED /* the larger of value and payoff after each step: of first order */
};

/* The events at a date, in the order of the march. Calendar time runs the other way: the value is recorded, the holder
   exercises, a barrier is observed or a coupon paid, and a dividend lowers the price. With FD_AMERICAN and FD_PROJECTED
   the holder may exercise before and after all events of a date. The march therefore raises values to the payoff of
   exercise twice: before the shift (as after every step) and after the change. By exercising, the holder can escape a
   dividend or a barrier: just before the barrier is observed, an option beyond it is worth its payoff. If the right to
   exercise ends at the barrier, make the payoff 0 beyond it. With FD_EXERCISE, in calendar time, the holder
   exercises before the change. For exercise after it, let MODEL_change first take the larger of value and payoff. */
enum {
    FD_SHIFT = 1,         /* the value at x becomes that at x - cash - proportion x, limited to the axis */
    FD_CHANGE_VALUES = 2, /* applies the model's change to each value */
    FD_EXERCISE = 4,      /* takes the larger of value and payoff of exercise, as FD_AMERICAN and FD_PROJECTED always
                             do: for Bermudan exercise */
    FD_RECORD = 8,        /* records values and derivatives at spots, and the whole grid if batch.grid is not null */
    FD_SHIFT_Y = 16,      /* as FD_SHIFT, along y: the value at y becomes that at y - cash - proportion y */
    FD_SHIFT_Z = 32       /* the same along z. A date has at most one of the three */
};

typedef struct {
    int what;                /* the sum of the events */
    double cash, proportion; /* of a shift, otherwise 0; proportion: at most 1; 0.02 means 2 % */
} fd_date;

/* Returns the axis along which a date shifts values; -1: none. */
TB_HD int fd_p_shift_axis(const fd_date *date)
{
    return date->what & FD_SHIFT ? 0 : date->what & FD_SHIFT_Y ? 1 : date->what & FD_SHIFT_Z ? 2 : -1;
}

/* Returns the place from which a shift takes the value at x, a coordinate along the shift's axis. */
TB_HD double fd_shifted(const fd_date *date, double x, double low, double high)
{
    double from = x - date->cash - date->proportion * x;
    return from < low ? low : from > high ? high : from;
}

/* Returns the time at which a step takes the coefficients of F(u) (end 0), or all others (end 1). */
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

/* Returns the final value at a grid point, set as plan->finals says.
   Needs    for FD_TOLD, 0 or more kinks in increasing order; otherwise as fd_final_value
   Cost     FD_AT_POINTS one call; FD_TOLD four for each piece of a cell with a kink, else one; the other two as
            fd_final_value
   Error    of averages: FD_TOLD as fd_average_told; FD_AVERAGED_X as fd_average with tolerance 1e-9, FD_AVERAGED with
            1e-7 (1e-3 in three dimensions) */
TB_HD double fd_final_as(const fd_plan *plan, int dims, const double *const *x, const int *points, const int *index,
                         fd_function *f, const void *context)
{
    double at[3] = {0, 0, 0};
    for (int d = 0; d < 3 && d < dims; d++) at[d] = x[d][index[d]];
    fd_p_line line = {f, context, {at[1], at[2]}};
    if (plan->finals == FD_AVERAGED)
        return fd_final_value(dims, x, points, index, f, context, dims > 2 ? 1e-3 : 1e-7, dims > 2 ? 4 : 30);
    if (plan->finals == FD_AVERAGED_X) return fd_final_value(1, x, points, index, fd_p_along, &line, 1e-9, 40);
    const int i = index[0];
    if (plan->finals == FD_TOLD && i > 0 && i < points[0] - 1) {
        double low = at[0] - (at[0] - x[0][i - 1]) / 2, high = at[0] + (x[0][i + 1] - at[0]) / 2;
        for (int k = 0; k < plan->kinks; k++)
            if (plan->kink[k] > low && plan->kink[k] < high)
                return fd_average_told(low, high, plan->kinks, plan->kink, fd_p_along, &line);
    }
    return f(at, context);
}

/* Returns whether the events of a date are unknown or shift values along several axes, or cash or proportion is wrong
   (FD_BAD_EVENT). */
TB_HD int fd_p_bad_event(const fd_date *date)
{
    const int shifts = date->what & (FD_SHIFT | FD_SHIFT_Y | FD_SHIFT_Z);
    const int by = date->cash < 0 || date->cash > 0 || date->proportion < 0 || date->proportion > 0;
    return !trid_finite_f64(date->cash) || !trid_finite_f64(date->proportion) || date->what < 0 || date->what > 63 ||
           (shifts & (shifts - 1)) || (by && !shifts) || date->proportion > 1;
}

/* Checks a problem's choices for its march, as far as possible before the steps are computed.
   Returns  a status whose `what` is FD_OK, FD_BAD_SCHEME, FD_BAD_THETA, FD_BAD_COEFFICIENTS, FD_BAD_FINALS,
            FD_BAD_EXERCISE, FD_BAD_KINKS (detail: 1 + the index of a wrong kink, or 0 if their number is wrong) or
            FD_BAD_EVENT (detail: 1 + the index of the date) */
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
    for (int k = 0; k < plan->times->dates && plan->at_date && !wrong; k++)
        if (fd_p_bad_event(&plan->at_date[k])) wrong = FD_BAD_EVENT, detail = 1 + k;
    return fd_p_status(wrong, detail);
}

/* Constants of the solvers. */
enum {
    FD_P_NONE = 0x7fffffff, /* no index */
    FD_P_LANES = 32,        /* with two factors, how many lines the host interleaves; with one and two, the tables of a
                               model's numbers are padded to a multiple of this */
    FD_P_MOST_LANES = 128   /* the same for three factors; in double precision the host interleaves half as many */
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

/* Returns the larger of `kept` and the magnitude of a value. Magnitudes are stored as the bits of floats, because
   nonnegative floats have the same order as their bits. Magnitudes above 3.4e38 count as 3.4e38. */
TB_HD int fd_p_larger(int kept, double value)
{
    const double most = 3.4e38;
    const float size = (float)(fabs(value) > most ? most : fabs(value));
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

/* Returns a magnitude from its stored bits. */
TB_HD double fd_p_size_of(int bits)
{
    float size;
    memcpy(&size, &bits, sizeof size);
    return (double)size;
}

/* Returns the length of interval k of 0 .. dates: from date k - 1 (or time 0) to date k (or maturity). */
TB_HD double fd_p_between(const fd_times *times, int k)
{
    return (k < times->dates ? times->date[k] : times->maturity) - (k > 0 ? times->date[k - 1] : 0);
}

/* Returns how many steps an explicit march needs, given the least result of fd_p_too_fast. The number allows for steps
   that grading lengthens. It also allows for an interval between dates that gets fewer steps than its share: rounding
   takes up to one, and shorter intervals before it in the march take more than their shares, since each has at least
   one step. */
TB_HD int fd_p_enough(const fd_times *times, int too_fast)
{
    const int graded = times->grading == FD_GEOMETRIC && times->ratio > 0;
    double stretch = times->grading == FD_QUADRATIC ? 2 : graded ? fd_p_max(times->ratio, 1 / times->ratio) : 1;
    double rate = fd_p_size_of(-too_fast) * stretch, needed = times->maturity * rate, most = 0;
    for (int k = 0; k <= times->dates && times->dates > 0; k++) {
        double length = fd_p_between(times, k), lost = 1;
        for (int j = k + 1; length * rate > 1; j++) {
            most = fd_p_max(most, times->maturity * lost / length);
            if (j > times->dates || fd_p_between(times, j) * rate > 1) break;
            lost += 1 - fd_p_between(times, j) * rate, length += fd_p_between(times, j);
        }
    }
    needed = ceil(needed + most);
    return needed < (double)FD_P_MOST ? (int)needed : (int)FD_P_MOST;
}

/* Returns the amount by which a change raises the magnitude of a value; a knock-out adds nothing. */
TB_HD double fd_p_added(double before, double after)
{
    return fd_p_max(fabs(after) - fabs(before), 0);
}

/* Sets the growth of a march that ended: the largest magnitude at time 0 over the largest that the march was given. If
   the growth exceeds the bound, the status becomes FD_GREW. */
TB_HD void fd_p_grown(fd_status *status, int given, int largest)
{
    const float before = (float)fd_p_size_of(given), after = (float)fd_p_size_of(largest);
    status->growth = before > 0 ? after / before : 0;
    if (status->growth > (float)FD_MOST_GROWTH) status->what = FD_GREW;
}

TB_HD size_t fd_p_round(size_t bytes)
{
    return (bytes + 127) / 128 * 128;
}

/* Returns whether memory lacks the 16-byte alignment that malloc guarantees, and that structs and vectors need. */
TB_HD int fd_p_misaligned(const void *memory)
{
    return (size_t)memory % 16 != 0;
}

/* Returns the address at an offset; null if memory is null, as it is when bytes are only counted. */
TB_HD void *fd_p_at(unsigned char *memory, size_t offset)
{
    return memory ? memory + offset : 0;
}

/* Takes the next `bytes` bytes of memory, and adds them, rounded up (fd_p_round), to *used, the bytes already taken.
   Returns their address; null if memory is null. */
TB_HD void *fd_p_next(unsigned char *memory, size_t *used, size_t bytes)
{
    void *at = fd_p_at(memory, *used);
    *used += fd_p_round(bytes);
    return at;
}

/* Returns the number of points of a padded line: a multiple of `lanes`. */
TB_HD int fd_p_padded_to(int lanes, int points)
{
    return (points + lanes - 1) / lanes * lanes;
}

/* What is wrong with the terms at a point, as a sum. The first three are declarations that do not hold. */
enum {
    FD_P_MIXED = 16,            /* << pair (0: of the first and second axis, 1: first and third, 2: second and third) */
    FD_P_CHANGES = 128,         /* terms change in time */
    FD_P_NOT_INDEPENDENT = 256, /* << axis: its terms depend on another axis */
    FD_P_ILL_POSED = 2048,
    FD_P_OUTWARD = 4096,  /* << axis: its drift points out of an FD_DEGENERATE face */
    FD_P_DIFFUSES = 32768 /* << axis: its diffusion is too large for an FD_DEGENERATE face */
};

/* Returns the first of these faults as a status, with its axis, or with 1 << pair in detail. */
TB_HD fd_status fd_p_untrue(int untrue, int i, int j, int k, int step)
{
    const int first = untrue & -untrue;
    int what = FD_NOT_DEGENERATE, detail = 0, axis = first / FD_P_DIFFUSES / 2;
    if (first < FD_P_DIFFUSES) what = FD_OUTWARD, axis = first / FD_P_OUTWARD / 2;
    if (first < FD_P_OUTWARD) what = FD_ILL_POSED, axis = -1;
    if (first < FD_P_ILL_POSED) what = FD_NOT_INDEPENDENT, axis = first / FD_P_NOT_INDEPENDENT / 2;
    if (first < FD_P_NOT_INDEPENDENT) what = FD_CHANGES_UNDECLARED, axis = -1;
    if (first < FD_P_CHANGES) what = FD_MIXED_UNDECLARED, detail = first / FD_P_MIXED;
    return fd_status_of(what, detail, axis, i, j, k, step);
}

#define FD_P_RESTRICT __restrict__
/* FD_P_APART before a loop tells the compiler that no iteration reads what another writes. __restrict__ on variables is
   no substitute: compilers may forget it, and clang 14 takes it to hold across the iterations of an outer loop too. */
#ifdef __clang__
#define FD_P_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define FD_P_APART _Pragma("GCC ivdep")
#endif
/* FD_P_FLAT marks a function whose loops the compiler should vectorise: everything that it calls is inlined, including
   the model's functions. FD_P_INLINE marks a function that is always inlined. */
#define FD_P_INLINE static inline __attribute__((always_inline, unused))
#define FD_P_FLAT static __attribute__((flatten, noinline, unused))
