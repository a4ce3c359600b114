/* solve.h - a room of adi3d.h, read once for each model and precision: solves a batch on the GPU or on the host.
   MIT licence, see LICENSE. */

#define adi3d_bytes FD_OF(bytes)
#define adi3d_solve FD_OF(solve)

/* With TB_LAUNCHES both functions below are templates, like those that they call, so that only programs that call them
   contain the kernels. */
#if TB_LAUNCHES
#define ADI3D_P_WHEN_CALLED template <int unused = 0>
#else
#define ADI3D_P_WHEN_CALLED
#endif

/* Returns the bytes of memory that MODEL_solve needs, or 0 for a batch whose sizes adi3d_check refuses. */
ADI3D_P_WHEN_CALLED TB_HOST size_t adi3d_bytes(const fd_batch *batch)
{
#if TB_LAUNCHES
    return adi3d_device_bytes<unused>(batch);
#else
    return fd_host_bytes(batch, adi3d_p_threads());
#endif
}

/* Solves the problems of a batch: on the current GPU if the program is compiled for one; otherwise on the host, with
   all threads that OpenMP would use or, without OpenMP, in the calling thread.
   Needs    as MODEL_device or MODEL_host; memory of MODEL_bytes, which adi3d_allocate can supply
   Leaves   the results, in host memory
   Returns  as MODEL_device or MODEL_host */
ADI3D_P_WHEN_CALLED TB_HOST int adi3d_solve(const fd_batch *batch, const fd_model_parameters *parameters,
                                            void *memory, size_t bytes)
{
#if TB_LAUNCHES
    return adi3d_device<unused>(batch, parameters, memory, bytes, 0);
#else
    return fd_host(batch, parameters, adi3d_p_threads(), memory, bytes);
#endif
}
#undef ADI3D_P_WHEN_CALLED
