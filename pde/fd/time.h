/* time.h - a room of fd.h: time steps, and the numbers of ADI schemes.
   MIT licence, see LICENSE. */

/* How time steps are graded between two dates, counted from the later date. FD_EQUAL: all steps are equal.
   FD_GEOMETRIC: each is the same multiple of the previous one, and the last is `ratio` times the first. FD_QUADRATIC:
   the first k of m steps cover (k / m)^2 of the interval. Short first steps, by FD_QUADRATIC or a ratio above 1, suit a
   kink at the later date. */
enum { FD_EQUAL, FD_GEOMETRIC, FD_QUADRATIC };

/* The kind of a time step. FD_EXPLICIT is Douglas with theta 0. A march of explicit steps is stable only if they are
   short. */
enum { FD_THETA, FD_EXPLICIT, FD_BACKWARD_EULER };

/* The description of the time steps. */
typedef struct {
    double maturity;    /* the march goes from here to 0 */
    int steps;          /* at least 1. The march may have more: a step that is cut into halves counts twice, and an
                           interval between dates has one step even if its share of the steps rounds to 0 */
    int grading;        /* FD_EQUAL .., for the steps that follow the final values or a date with a kink */
    double ratio;       /* FD_GEOMETRIC: the last step before the next date or time 0, divided by the first */
    int kind;           /* FD_THETA, FD_EXPLICIT, FD_BACKWARD_EULER */
    double theta;       /* for FD_THETA, 0 .. 1; 0: the scheme's own in solvers (fd_scheme_theta), 1/2 in fd_schedule */
    int halves;         /* Rannacher start: the number of backward Euler steps of half the size. They replace the first
                           `halves`/2 steps (rounded up) after the final values and after each date with a kink, or all
                           steps to the next date if there are fewer. The usual 4 replace 2 steps. If the number is odd
                           and there are enough steps, the last backward Euler step replaces only the first half of a
                           step; the second half is of the march's own kind */
    int dates;          /* the number of dates with an event: coupon, dividend, exercise, barrier observation */
    const double *date; /* increasing, 0 <= date < maturity; not read if dates is 0 */
    const int *kink;    /* for each date, whether it leaves a kink or a jump; null: all do */
} fd_times;

/* A time step, from > to. The first starts at maturity, each later one where the previous one ends, to the bit, and the
   last ends at 0. */
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

/* An interval between dates, and its steps. Maturity and time 0 bound the first and the last interval. */
typedef struct {
    double upper, lower; /* the interval goes from upper to lower */
    long long first;     /* the index of its first step in the march */
    int whole;           /* the number of its steps, before some are cut in two */
    int halved;          /* how many of these steps, from the first on, are cut in two */
    int kink;            /* whether the values at upper have a kink or a jump */
    int date;            /* the index of the date at lower; -1: none */
} fd_interval;

/* Checks the description of the steps. Returns a status, as fd_schedule_part does. */
TB_HD int fd_p_check_times(const fd_times *t)
{
    if (t->grading != FD_EQUAL && t->grading != FD_GEOMETRIC && t->grading != FD_QUADRATIC) return FD_BAD_GRADING;
    if (t->kind != FD_EXPLICIT && t->kind != FD_BACKWARD_EULER && t->kind != FD_THETA) return FD_BAD_KIND;
    if (t->steps < 1 || t->steps > FD_P_MOST) return FD_BAD_STEPS;
    if (t->halves < 0 || t->halves > FD_P_MOST || t->dates < 0 || t->dates > FD_P_MOST) return FD_BAD_SIZE;
    if (!trid_finite_f64(t->maturity) || !(t->maturity > 0)) return FD_BAD_NUMBER;
    if (t->grading == FD_GEOMETRIC && !(trid_finite_f64(t->ratio) && t->ratio > 0)) return FD_BAD_NUMBER;
    if (t->kind == FD_THETA && !(trid_finite_f64(t->theta) && t->theta >= 0 && t->theta <= 1)) return FD_BAD_THETA;
    if (t->dates > 0 && !t->date) return FD_BAD_ARGUMENT;
    for (int i = 0; i < t->dates; i++) {
        const double least = i > 0 ? t->date[i - 1] : 0, date = t->date[i];
        if (!trid_finite_f64(date) || !(i > 0 ? date > least : date >= 0) || !(date < t->maturity)) return 1 + i;
    }
    return FD_OK;
}

/* Returns the interval before the first one, for fd_next_interval. */
TB_HD fd_interval fd_no_interval(const fd_times *times)
{
    const fd_interval none = {times->maturity, times->maturity, 0, 0, 0, 0, times->dates};
    return none;
}

/* Returns the interval after another, in the order of the march.
   Needs    times that fd_schedule_part accepts; `last`, which does not end at 0; *taken, the whole steps of all
            intervals so far, 0 at first
   Leaves   *taken, with the whole steps of this interval added */
TB_HD fd_interval fd_next_interval(const fd_times *times, const fd_interval *last, long long *taken)
{
    fd_interval next = {last->lower, 0, last->first + last->whole + last->halved, 1, 0, 1, last->date - 1};
    if (last->date < times->dates) next.kink = !times->kink || times->kink[last->date];
    if (next.date >= 0) next.lower = times->date[next.date];
    const double share = (times->maturity - next.lower) / times->maturity;
    const long long due = (long long)floor(times->steps * share + 0.5);
    if (due > *taken) next.whole = (int)(due - *taken);
    *taken += next.whole;
    /* After a kink comes a Rannacher start (halves of fd_times). */
    if (next.kink) next.halved = times->halves / 2 + times->halves % 2;
    if (next.halved > next.whole) next.halved = next.whole;
    return next;
}

/* Returns the time after k whole steps of an interval. */
TB_HD double fd_p_after(const fd_times *times, const fd_interval *v, int k)
{
    if (k == 0 || k == v->whole) return k == 0 ? v->upper : v->lower;
    const double share = fd_p_share(v->kink ? times->grading : FD_EQUAL, times->ratio, k, v->whole);
    return v->upper - share * (v->upper - v->lower);
}

/* Returns step k of a march, a step of interval v.
   Cost     a few double operations; with FD_GEOMETRIC also up to four exponentials and two logarithms */
TB_HD fd_step fd_step_in(const fd_times *times, const fd_interval *v, long long k)
{
    const int local = (int)(k - v->first), cut = local < 2 * v->halved;
    const int whole = cut ? local / 2 : local - v->halved, part = cut ? local % 2 : 0;
    const int euler = cut && times->halves - 2 * whole > part, last = whole == v->whole - 1 && part == cut;
    const double start = fd_p_after(times, v, whole), end = fd_p_after(times, v, whole + 1);
    const double middle = start - (start - end) / 2;
    const double theta = times->kind == FD_EXPLICIT         ? 0
                         : times->kind == FD_BACKWARD_EULER ? 1
                         : times->theta > 0                 ? times->theta
                                                            : 0.5;
    const fd_step step = {part ? middle : start, cut && !part ? middle : end, euler ? 1 : theta,
                          euler ? FD_BACKWARD_EULER : times->kind, last ? v->date : -1};
    return step;
}

/* Computes steps `first` .. `first + room - 1` of a march from maturity to 0, as far as they exist, for callers that
   hold a few steps at a time.
   Needs    step: an array of `room` steps, or null, to count only
   Leaves   the number of the march's steps in *count
   Returns  FD_OK, FD_BAD_ARGUMENT (null), FD_BAD_GRADING, FD_BAD_KIND, FD_BAD_STEPS, FD_BAD_SIZE (halves or dates
            negative or above 2^28; more than 2^28 steps in all; a step so short that rounding makes its ends equal),
            FD_BAD_NUMBER (maturity or ratio not positive and finite), FD_BAD_THETA, or 1 + the index of the first date
            that is not finite, out of range or out of order
   Cost     that of fd_step_in for each step of the march, whatever `first` and `room` are */
TB_HD int fd_schedule_part(const fd_times *times, int first, int room, fd_step *step, int *count)
{
    if (!times || !count) return FD_BAD_ARGUMENT;
    const int wrong = fd_p_check_times(times);
    if (wrong) return wrong;
    fd_interval v = fd_no_interval(times);
    long long taken = 0, total = 0;
    while (v.lower > 0) {
        v = fd_next_interval(times, &v, &taken);
        for (total = v.first; total < v.first + v.whole + v.halved; total++) {
            const fd_step made = fd_step_in(times, &v, total);
            if (!(made.to < made.from)) return FD_BAD_SIZE;
            if (step && total >= first && total < first + (long long)room) step[total - first] = made;
        }
    }
    if (total > FD_P_MOST) return FD_BAD_SIZE;
    *count = (int)total;
    return FD_OK;
}

/* Computes all steps of a march.
   Needs    as fd_schedule_part
   Returns  as fd_schedule_part; FD_NO_ROOM if `step` has too little room: *count then tells how many steps there are */
TB_HD int fd_schedule(const fd_times *times, int room, fd_step *step, int *count)
{
    int status = fd_schedule_part(times, 0, room, step, count);
    return status || !step || *count <= room ? status : FD_NO_ROOM;
}

/* ---- schemes ----------------------------------------------------------------------------------------------------- */

enum { FD_DOUGLAS, FD_CRAIG_SNEYD, FD_MODIFIED_CRAIG_SNEYD, FD_HUNDSDORFER_VERWER };

/* A stage of a scheme for u' = F(u), F = F_0 + F_1 + ... + F_d. F_0 holds the mixed derivatives; F_j holds the
   derivatives along axis j, and a share of all other terms. u is the value at the start of the step, and dt > 0 the
   step's length. z is the result of the first stage, which only a second stage reads. The stage begins with the base
       y = u + dt (mixed[0] F_0(u) + own[0] (F_1 + ... + F_d)(u) + mixed[1] F_0(z) + own[1] (F_1 + ... + F_d)(z)).
   Then it solves along each axis j = 1 .. d in turn for y':
       y' - theta dt F_j(y') = y - theta dt F_j(about ? z : u).
   Each y' is the next axis's y; the last y' is the stage's result. F(u) is taken at the start of the step, F(z) and
   F(y') at its end.

   It is best to solve for the difference from w = about ? z : u. With F_j(v) = A_j v + sources and boundary terms,
       (1 - theta dt A_j) (y' - w) = y - w + theta dt (F_j(w) at the end of the step - F_j(w) as taken above).
   The last term is 0 if F_j is time-independent, or if about is 1. In this form no F_j need be stored. At a face whose
   value is given, the right-hand side is the new value less w. A coupling that the matrix omits (fd_lane_lag) still
   acts, on w. */
typedef struct {
    double mixed[2], own[2], theta;
    int about;
} fd_stage;

typedef struct {
    int stages; /* 1 or 2 */
    fd_stage stage[2];
} fd_scheme;

/* Fills in the numbers of a scheme. With theta 1, FD_DOUGLAS is the backward Euler step of a Rannacher start.
   Returns  FD_OK, FD_BAD_ARGUMENT (null), FD_BAD_SCHEME, or FD_BAD_THETA
   Error    in time: FD_DOUGLAS is of second order with theta 1/2 and no mixed terms, otherwise of first; FD_CRAIG_SNEYD
            of second with theta 1/2, otherwise of first; the other two of second with any theta */
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

/* Returns a theta with which a scheme is stable for any step, diffusion and correlation (docs/fd.md): 1/2 for Douglas
   and Craig-Sneyd (2/3 for Douglas with three factors and mixed terms), 1/3 for Modified Craig-Sneyd (6/13 with three
   factors), 1 - sqrt(1/2) for Hundsdorfer-Verwer (3 - sqrt(27/4) with three), and 1/2 for an unknown scheme. With one
   factor the theta is that for two. If drifts exceed diffusion, use fd_scheme_theta_drift. */
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
   Leaves   *theta. If courant is 0, that of fd_scheme_theta. Otherwise, with one or two factors, the same, except that
            Hundsdorfer-Verwer gets 1/2 + sqrt(1/12); all schemes are then stable for any courant. With three factors,
            2/3 for Douglas and Craig-Sneyd (of first order), 3/4 for Modified Craig-Sneyd and 1 for Hundsdorfer-Verwer;
            no wave then grows by a factor above 1.00025 a step while courant is at most 1/2, or 3/10 for Modified
            Craig-Sneyd (docs/fd.md)
   Returns  FD_OK; FD_GREW for three factors and a larger courant, with which waves may grow: take more steps (upwinding
            and this theta slow the growth, and status.growth reports it); FD_BAD_ARGUMENT for a null pointer or an
            unknown scheme; FD_BAD_NUMBER for a courant that is negative or NaN */
TB_HD int fd_scheme_theta_drift(int which, int factors, int mixed, double courant, double *theta)
{
    if (!theta || which < FD_DOUGLAS || which > FD_HUNDSDORFER_VERWER) return FD_BAD_ARGUMENT;
    if (courant < 0 || !trid_finite_f64(1 / (1 + courant))) return FD_BAD_NUMBER; /* infinity passes */
    *theta = fd_scheme_theta(which, factors, mixed);
    if (!(courant > 0)) return FD_OK;
    if (factors < 3) {
        if (which == FD_HUNDSDORFER_VERWER) *theta = 0.78867513459481288;
        return FD_OK;
    }
    *theta = which == FD_HUNDSDORFER_VERWER ? 1 : which == FD_MODIFIED_CRAIG_SNEYD ? 0.75 : 2.0 / 3;
    return courant <= (which == FD_MODIFIED_CRAIG_SNEYD ? 0.3 : 0.5) ? FD_OK : FD_GREW;
}

/* Returns the times of a march; with FD_THETA, a theta of 0 becomes the scheme's own (fd_scheme_theta). */
TB_HD fd_times fd_times_of(const fd_times *times, int scheme, int factors, int mixed)
{
    fd_times of = *times;
    if (of.kind == FD_THETA && of.theta >= 0 && of.theta <= 0) of.theta = fd_scheme_theta(scheme, factors, mixed);
    return of;
}
