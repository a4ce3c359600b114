/* suggest.h - a room of the solvers in pde/, read once for each model and precision: the points and steps for a
   tolerance. MIT licence, see LICENSE. */

#define fd_host_bytes FD_OF(host_bytes)
#define fd_host FD_OF(host)
#define fd_p_finer FD_OF(p_finer)
#define fd_p_suggested FD_OF(p_suggested)
#define fd_p_trial FD_OF(p_trial)
#define fd_p_trial_begin FD_OF(p_trial_begin)
#define fd_p_trial_value FD_OF(p_trial_value)
#define fd_p_trial_errors FD_OF(p_trial_errors)
#define fd_suggest_bytes FD_OF(suggest_bytes)
#define fd_suggest FD_OF(suggest)

#if TB_HOST_SCOPE

enum { fd_p_finer = FD_FACTORS == 1 ? 4 : 2 }; /* how many intervals of the finest trial lie in one of the coarsest */

/* A problem to be solved on several grids, and its memory. */
typedef struct {
    fd_problem problem;
    fd_batch batch;
    const fd_model_parameters *parameters;
    void *memory;
    size_t bytes;
    int workers;
    fd_status status;
    int call; /* the status of the first call that was refused */
} fd_p_trial;

/* Sets up the batch that each trial solves. Returns FD_OK, FD_BAD_TIMES with the reason in t->status, or FD_BAD_SIZE
   for workers or points that MODEL_host refuses. After FD_OK, 4 times as many points or steps do not overflow. */
TB_HOST int fd_p_trial_begin(const fd_problem *problem, int workers, fd_p_trial *t)
{
    fd_times times = fd_times_of(&problem->times, problem->scheme, FD_FACTORS, FD_MODEL_MIXED != 0);
    memset(t, 0, sizeof *t);
    t->problem = *problem, t->workers = workers;
    if (times.steps > 0) times.steps = times.steps > FD_P_MOST / 4 ? FD_P_MOST + 1 : 4 * times.steps;
    const int wrong = fd_schedule_part(&times, 0, 0, NULL, &t->batch.steps);
    t->batch.problems = t->batch.spots = 1, t->batch.dates = times.dates, t->batch.problem = problem;
    for (int d = 0; d < FD_FACTORS; d++) t->batch.points[d] = problem->axis[d].points;
    if (fd_p_axis_refused(FD_FACTORS, &t->batch) >= 0) return FD_BAD_SIZE;
    for (int d = 0; d < FD_FACTORS; d++) t->batch.points[d] = fd_p_finer * (problem->axis[d].points - 1) + 1;
    if (wrong) t->status = fd_p_status(FD_BAD_TIMES, wrong);
    return wrong ? FD_BAD_TIMES : fd_host_bytes(&t->batch, workers) == 0 ? FD_BAD_SIZE : FD_OK;
}

/* Returns the value at the spot on a grid with finer_space times as many intervals and finer_time times as many
   steps. */
TB_HOST double fd_p_trial_value(fd_p_trial *t, const fd_problem *problem, int finer_space, int finer_time)
{
    if (t->call || t->status.what) return 0;
    for (int d = 0; d < FD_FACTORS; d++) t->problem.axis[d].points = finer_space * (problem->axis[d].points - 1) + 1;
    t->problem.times.steps = finer_time * problem->times.steps;
    t->call = fd_host(&t->batch, t->parameters, t->workers, t->memory, t->bytes);
    return t->batch.values[0].value;
}

/* Finds the extrapolated value, and the errors of the problem's own grid. Assumes that errors in space are of second
   order. Estimates the order in time from steps of three lengths; assumes first order if errors fall no faster, or if
   problem->exercise is not FD_EUROPEAN. Measures errors in time on the finest grid: a coarse grid hides the effect of a
   free boundary. */
TB_HOST void fd_p_trial_errors(fd_p_trial *t, const fd_problem *problem, fd_suggestion *to)
{
    const double own = fd_p_trial_value(t, problem, 1, 1), finer = fd_p_trial_value(t, problem, 2, 1);
    const double finest = (int)fd_p_finer > 2 ? fd_p_trial_value(t, problem, fd_p_finer, 1) : finer;
    const double half = fd_p_trial_value(t, problem, fd_p_finer, 2);
    const double quarter = fd_p_trial_value(t, problem, fd_p_finer, 4);
    const double in_time = fabs(finest - half), next_in_time = fabs(half - quarter);
    const double in_space = fd_p_max(fabs(own - finer), 4 * fabs(finer - finest));
    const int first = problem->exercise != FD_EUROPEAN || next_in_time * 2 >= in_time;
    to->order = first ? 1 : next_in_time * 4 <= in_time ? 2 : log(in_time / next_in_time) / log(2.0);
    const double more = 1 / (1 - pow(2, -to->order)); /* the whole error / the part that halving the step removes */
    to->in_time = fd_p_max(in_time, pow(2, to->order) * next_in_time) * more, to->in_space = in_space * 4 / 3;
    to->value = quarter + (quarter - half) * (more - 1) + (finer - own) * 4 / 3 / (fd_p_finer * fd_p_finer);
}

/* Sets *to to a count, rounded up, and returns 1. If the count exceeds `most` or is NaN, sets *to to `most` and returns
   0. */
TB_HOST int fd_p_suggested(double count, int most, int *to)
{
    const int fits = count <= most;
    *to = fits ? (int)ceil(count) : most;
    return fits;
}

/* Returns the bytes of memory that MODEL_suggest needs; 0 if the problem's steps are refused, or if MODEL_host would
   refuse the workers or the points of a trial. */
TB_HOST size_t fd_suggest_bytes(const fd_problem *problem, int workers)
{
    fd_p_trial t;
    if (!problem || fd_p_trial_begin(problem, workers, &t)) return 0;
    return fd_host_bytes(&t.batch, workers) + fd_p_round((size_t)(1 + t.batch.dates) * sizeof(fd_values));
}

/* Suggests how many points of each axis and how many steps make the value at the problem's first spot accurate to a
   tolerance at the least cost. For this it solves four or five trials on the host. The coarsest trial has the problem's
   own points and steps. The finest has four times as many steps, and four times as many intervals (with two or three
   factors, twice as many). For the coarsest, 40 points and 10 steps suffice if the value is smooth, 80 and 20 near a
   free boundary.
   Needs    axes that are computed (problem->points null); the tolerance of the value; memory of MODEL_suggest_bytes,
            aligned as by malloc; workers as MODEL_host
   Leaves   *to: the suggested axis.points and times.steps, at least the problem's; the extrapolated value; the errors
            of the problem's own grid
   Returns  FD_OK; FD_BAD_TOLERANCE if the tolerance needs more points than the solver takes, or more than 2^27 steps:
            *to then holds the limit instead; FD_BAD_NUMBER for a tolerance that is not positive and finite;
            FD_BAD_ARGUMENT if problem->points are given; FD_BAD_SIZE if the finest trial would have too many points;
            FD_BAD_TIMES, with the reason in to->status; the status of a trial that failed, as in to->status; or, for a
            refused call, as MODEL_host
   Error    the estimate assumes errors of second order in space. In time it takes the order that steps of three lengths
            show, or first order if problem->exercise is not FD_EUROPEAN. The suggestion allows for errors of twice the
            estimates; with it, the values in tests/test_suggest_host.c are within the tolerance. A trial that is too
            coarse misleads the estimate, for example with a free boundary close to the spot, or a barrier that is
            aligned with neither a face nor an FD_MIDWAY place. Errors of an axis that is too short are not included */
TB_HOST int fd_suggest(const fd_problem *problem, const fd_model_parameters *parameters, double tolerance, int workers,
                       void *memory, size_t bytes, fd_suggestion *to)
{
    const double safety = 2;
    fd_p_trial t;
    if (!to) return FD_BAD_ARGUMENT;
    memset(to, 0, sizeof *to);
    if (!problem) return FD_BAD_ARGUMENT;
    for (int d = 0; d < FD_FACTORS; d++)
        if (problem->points[d]) return FD_BAD_ARGUMENT;
    if (!(tolerance > 0) || !trid_finite_f64(tolerance)) return FD_BAD_NUMBER;
    const int wrong = fd_p_trial_begin(problem, workers, &t);
    to->status = t.status;
    if (wrong) return wrong;
    if (!memory || fd_p_misaligned(memory)) return FD_BAD_ARGUMENT;
    const size_t values = fd_p_round((size_t)(1 + t.batch.dates) * sizeof(fd_values));
    if (bytes < values) return FD_NO_ROOM;
    t.batch.problem = &t.problem, t.batch.status = &t.status, t.batch.values = (fd_values *)memory;
    t.parameters = parameters, t.memory = (unsigned char *)memory + values, t.bytes = bytes - values;
    fd_p_trial_errors(&t, problem, to);
    to->status = t.status;
    if (t.call || t.status.what) return t.call ? t.call : t.status.what;
    /* The cost, points^factors times steps, is least if the error in space is factors * order / 2 times that in
       time. */
    const double share = FD_FACTORS * to->order / 2 / (1 + FD_FACTORS * to->order / 2);
    const double space = sqrt(safety * to->in_space / (share * tolerance));
    const double time = pow(safety * to->in_time / ((1 - share) * tolerance), 1 / to->order);
    /* Half the limit of 2^28, because all steps may be cut in two. */
    int fits = fd_p_suggested(problem->times.steps * fd_p_max(time, 1), FD_P_MOST / 2, &to->steps);
    for (int d = 0; d < FD_FACTORS; d++)
        fits &= fd_p_suggested(1 + (problem->axis[d].points - 1) * fd_p_max(space, 1), fd_p_most_points(FD_FACTORS),
                               &to->points[d]);
    return fits ? FD_OK : FD_BAD_TOLERANCE;
}

#endif
