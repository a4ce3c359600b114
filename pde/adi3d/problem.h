/* problem.h - a room of adi3d.h: checks of problems and batches, memory, what needs no model.
   MIT licence, see LICENSE. */

enum {
    ADI3D_P_MOST_LANES = 128, /* the host's interleaved lines, in single precision */
    ADI3D_P_ROWS = 16         /* rows that are transposed at a time: they stay in the nearest cache */
};

#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define ADI3D_P_SHUFFLES 1
#endif
#endif
#ifndef ADI3D_P_SHUFFLES
#define ADI3D_P_SHUFFLES 0
#endif

/* Checks a problem, as far as that is possible before points and steps are made.
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

/* Checks the counts of a batch, of which its memory depends: its pointers may still be null. */
TB_HD int adi3d_p_sizes(const adi3d_batch *batch)
{
    if (!batch) return FD_BAD_ARGUMENT;
    int sized = batch->problems >= 0 && batch->steps >= 1 && batch->steps <= FD_P_MOST && batch->dates >= 0 &&
                batch->dates <= FD_P_MOST;
    for (int d = 0; d < 3; d++) sized &= batch->points[d] >= 4 && batch->points[d] <= ADI3D_MOST;
    return sized ? FD_OK : FD_BAD_SIZE;
}

/* Checks a batch.
   Returns  FD_OK, FD_BAD_ARGUMENT for a null pointer, or FD_BAD_SIZE: a count out of range */
TB_HD int adi3d_batch_check(const adi3d_batch *batch)
{
    const int wrong = adi3d_p_sizes(batch);
    if (wrong) return wrong;
    return batch->problems > 0 && (!batch->problem || !batch->status || !batch->values) ? FD_BAD_ARGUMENT : FD_OK;
}

/* Checks a problem of a batch: as adi3d_check, and whether the batch has room for it. */
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

/* What is known of a problem of a batch before its march on chip. */
typedef struct {
    fd_status status, made[3]; /* made: of each axis */
    fd_weights at[3];
    int steps, not_dominant;
    int given;      /* the largest magnitude that the march is given: fd_p_larger */
    int bad, lost;  /* the first step whose numbers, and the first point whose final value, are not finite; FD_P_NONE */
    int untrue[2];  /* the first point at which a declaration does not hold, in the first and the last step */
    int too_fast;   /* the least of fd_p_too_fast, in both */
    double longest; /* explicit step */
} adi3d_p_plan;

/* Returns the longest explicit step of a march, or 0 if it has none. */
TB_HD double adi3d_p_longest_step(const fd_times *times)
{
    enum { at_once = 64 };
    fd_step some[at_once];
    double longest = 0;
    int steps = 1;
    for (int k = 0; k < steps && times->kind == FD_EXPLICIT; k += at_once) {
        if (fd_schedule_part(times, k, at_once, some, &steps)) return 0;
        longest = fd_p_max(longest, fd_p_longest(steps - k < at_once ? steps - k : at_once, some));
    }
    return longest;
}

/* Returns the number of points of the grid. */
TB_HD size_t adi3d_p_points(const adi3d_problem *problem)
{
    return (size_t)problem->axis[0].points * (size_t)problem->axis[1].points * (size_t)problem->axis[2].points;
}

/* Returns how many numbers an axis has in its tables: whole groups of interleaved lines. */
TB_HD int adi3d_p_padded(int points)
{
    return (points + ADI3D_P_MOST_LANES - 1) / ADI3D_P_MOST_LANES * ADI3D_P_MOST_LANES;
}

/* Returns the number of points of the longest axis, rounded up to whole groups of interleaved lines. */
TB_HD int adi3d_p_longest(const adi3d_problem *problem)
{
    int longest = 0;
    for (int d = 0; d < 3; d++)
        if (problem->axis[d].points > longest) longest = problem->axis[d].points;
    return adi3d_p_padded(longest);
}

/* Returns whether what is given at a face may change from the start of a step to its end, as a slope may. */
TB_HD int adi3d_p_slopes(const adi3d_problem *problem)
{
    int slopes = 0;
    for (int f = 0; f < 6; f++) slopes |= problem->face[f / 2][f % 2] == FD_SLOPE;
    return slopes;
}

/* Returns whether point i of an axis is on a face whose value is given. */
TB_HD int adi3d_p_given(const adi3d_problem *problem, int axis, int i)
{
    const int last = i == problem->axis[axis].points - 1;
    return (i == 0 || last) && problem->face[axis][last] == FD_VALUE;
}

/* Returns the event at a date, or null. */
TB_HD const fd_date *adi3d_p_event(const adi3d_problem *problem, int date)
{
    return date >= 0 && problem->at_date && problem->at_date[date].what ? &problem->at_date[date] : NULL;
}

/* Returns whether the final values are needed after the march has begun. */
TB_HD int adi3d_p_finals(const adi3d_problem *problem)
{
    int needed = problem->exercise != FD_EUROPEAN;
    for (int date = 0; date < problem->times.dates && problem->at_date; date++)
        needed |= problem->at_date[date].what & FD_EXERCISE;
    return needed;
}

#if TB_HOST_SCOPE
#ifdef _OPENMP
/* Waits for all of OpenMP's threads. */
TB_HOST void adi3d_p_barrier(void *context)
{
    (void)context;
#pragma omp barrier
}
#endif

/* Allocates memory for MODEL_solve: on the GPU, where the program is compiled for one.
   Returns  a pointer for adi3d_free; or null if there is too little memory, which MODEL_solve answers with FD_NO_ROOM
            */
TB_HOST void *adi3d_allocate(size_t bytes)
{
#if TB_LAUNCHES
    void *memory = NULL;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : NULL;
#else
    return malloc(bytes);
#endif
}
/* Frees what adi3d_allocate returned. */
TB_HOST void adi3d_free(void *memory)
{
#if TB_LAUNCHES
    cudaFree(memory);
#else
    free(memory);
#endif
}

/* Returns how many threads OpenMP would take. */
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
/* Returns an attribute of the current device, or 0 if it does not tell. */
TB_HOST int adi3d_p_attribute(enum cudaDeviceAttr attribute)
{
    int device, value;
    return cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess
               ? value
               : 0;
}

/* Returns into how many pieces to cut a march over `planes` planes, so that it takes the least time. `columns` blocks
   stand next to each other for each piece, and `slots` blocks run at the same time. A piece costs as much as `more`
   planes in addition to its own. */
TB_HOST int adi3d_p_pieces(int planes, int blocks, int slots, int more)
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
