/* plan.h - a room of adi2d.h, read once: what is found out about a problem before its march.
   MIT licence, see LICENSE. */

/* Returns a status of two factors, with not_dominant and growth 0. */
TB_HD fd_status adi2d_p_status(int what, int detail, int axis, int i, int j, int step)
{
    return fd_status_of(what, detail, axis, i, j, -1, step);
}

/* What can be wrong with a problem. For each the least index at which it was found is kept; the status tells the first
   of them in this order. */
enum {
    ADI2D_P_POINTS,      /* of each axis */
    ADI2D_P_NUMBERS = 2, /* likewise */
    ADI2D_P_MORE = 4,    /* of each axis and of time: numbers that are not declared */
    ADI2D_P_TIME = 7,
    ADI2D_P_FINAL,
    ADI2D_P_UNTRUE, /* something that the model declares is false at the point */
    ADI2D_P_KIND,
    ADI2D_P_FAST, /* fd_p_too_fast's number */
    ADI2D_P_FAULTS
};

/* What is found out about a problem. */
typedef struct {
    int points[2], steps, not_dominant; /* at the start, which is aligned: kernels read them at once */
    fd_status status;
    int given;                 /* the largest magnitude that the march is given: fd_p_larger */
    int wrong[3];              /* statuses of the axes and of the steps */
    int fault[ADI2D_P_FAULTS]; /* indices, FD_P_NONE where there is none */
    double longest;            /* explicit step; 0: there is none */
    fd_map map[2];
    fd_weights at[2];
} adi2d_p_plan;

/* Checks a problem's own numbers, before anything is computed of them. */
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

/* Returns whether two steps have the same length, up to rounding. */
TB_HD int adi2d_p_as_long(const fd_step *one, const fd_step *other)
{
    double first = one->from - one->to, second = other->from - other->to;
    return fabs(first - second) <= 1e-11 * first;
}
