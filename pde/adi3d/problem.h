/* problem.h - a room of adi3d.h: what needs no model: checks, memory, how a device is used.
   MIT licence, see LICENSE. */

enum { ADI3D_P_ROWS = 16 }; /* rows that the host transposes at a time: they stay in the nearest cache */

#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define ADI3D_P_SHUFFLES 1
#endif
#endif
#ifndef ADI3D_P_SHUFFLES
#define ADI3D_P_SHUFFLES 0
#endif

/* Checks what the memory of a batch depends on: its pointers may still be null. */
TB_HD int adi3d_p_sizes(const fd_batch *batch)
{
    const int wrong = fd_p_sizes(3, batch);
    for (int d = 0; d < 3 && !wrong; d++)
        if (batch->points[d] > ADI3D_MOST) return FD_BAD_SIZE;
    return wrong;
}

/* Checks a batch.
   Returns  as fd_batch_check; FD_BAD_SIZE for more than ADI3D_MOST points of an axis */
TB_HD int adi3d_check(const fd_batch *batch)
{
    const int wrong = adi3d_p_sizes(batch);
    return wrong ? wrong : fd_batch_check(3, batch);
}

/* Returns whether a march needs the final values once it has begun. */
TB_HD int adi3d_p_finals(const fd_batch *batch, const fd_problem *problem)
{
    int needed = problem->exercise != FD_EUROPEAN;
    for (int date = 0; date < problem->times.dates && date < batch->dates && problem->at_date; date++)
        needed |= problem->at_date[date].what & FD_EXERCISE;
    return needed;
}

/* The grids that a march needs besides values and differences: a first stage's values, final values, the multiplier of
   early exercise. */
typedef struct {
    int stage, final, multiplier;
} adi3d_p_needs;

/* Returns what one of a batch's problems needs: all, while they are not known. */
TB_HD adi3d_p_needs adi3d_p_needs_of(const fd_batch *batch)
{
    adi3d_p_needs needs = {!batch->problem, !batch->problem, !batch->problem};
    for (int which = 0; which < batch->problems && batch->problem; which++) {
        const fd_problem *problem = &batch->problem[which];
        needs.stage |= problem->scheme != FD_DOUGLAS, needs.final |= adi3d_p_finals(batch, problem);
        needs.multiplier |= problem->exercise == FD_AMERICAN;
    }
    return needs;
}

/* Returns the number of points of a grid. */
TB_HD size_t adi3d_p_points(const int *n)
{
    return (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
}

/* Returns whether what is given at a face may change from the start of a step to its end, as a slope may. */
TB_HD int adi3d_p_slopes(const fd_problem *problem)
{
    int slopes = 0;
    for (int f = 0; f < 6; f++) slopes |= problem->face[f / 2][f % 2] == FD_SLOPE;
    return slopes;
}

/* Returns whether point i of an axis is on a face whose value is given. */
TB_HD int adi3d_p_given(const fd_problem *problem, int axis, int i)
{
    const int last = i == problem->axis[axis].points - 1;
    return (i == 0 || last) && problem->face[axis][last] == FD_VALUE;
}

/* Returns the status for point number `at` of a grid. */
TB_HD fd_status adi3d_p_lost(int what, const int *n, int at, int step)
{
    return fd_status_of(what, 0, -1, at % n[0], at / n[0] % n[1], at / n[0] / n[1], step);
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
   Returns  a pointer for adi3d_free; null if there is too little memory */
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
