/* problem.h - a room of adi3d.h: functions that need no model: checks, memory, the use of a device.
   MIT licence, see LICENSE. */

/* Checks a batch.
   Returns  as fd_batch_check */
TB_HD int adi3d_check(const fd_batch *batch)
{
    return fd_batch_check(3, batch);
}

#if TB_HOST_SCOPE
/* Allocates memory for MODEL_solve: on the GPU if the program is compiled for one.
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
/* Frees memory that adi3d_allocate returned. */
TB_HOST void adi3d_free(void *memory)
{
#if TB_LAUNCHES
    cudaFree(memory);
#else
    free(memory);
#endif
}

/* Returns how many threads OpenMP would use. */
TB_HOST int adi3d_p_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}
#endif
