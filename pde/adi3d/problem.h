/* problem.h - a room of adi3d.h: what needs no model: checks, memory, how a device is used.
   MIT licence, see LICENSE. */

/* Checks a batch.
   Returns  as fd_batch_check */
TB_HD int adi3d_check(const fd_batch *batch)
{
    return fd_batch_check(3, batch);
}

#if TB_HOST_SCOPE
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
