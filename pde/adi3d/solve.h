/* solve.h - a room of adi3d.h, read once a model and precision: a problem on the GPU or on the host.
   MIT licence, see LICENSE. */

#define adi3d_bytes ADI3D_OF(bytes)
#define adi3d_solve ADI3D_OF(solve)

/* A template where it launches kernels, which a program that does not call it then does not have. */
#if TB_LAUNCHES
#define ADI3D_P_WHEN_CALLED template <int unused = 0>
#else
#define ADI3D_P_WHEN_CALLED
#endif

/* Returns the bytes of memory that MODEL_solve needs, or 0 for a problem that adi3d_check refuses. */
ADI3D_P_WHEN_CALLED TB_HOST size_t adi3d_bytes(const adi3d_problem *problem)
{
#if TB_LAUNCHES
    return adi3d_device_bytes<unused>(problem);
#else
    return adi3d_host_bytes(problem, adi3d_p_threads());
#endif
}

/* Solves a problem: on the current GPU, where the program is compiled for one; else by all threads of the host.
   Needs    memory of so many bytes from adi3d_allocate
   Leaves   the result, in the host's memory
   Returns  as MODEL_device, or as MODEL_host */
ADI3D_P_WHEN_CALLED TB_HOST int adi3d_solve(const adi3d_problem *problem, const adi3d_model_parameters *parameters,
                                            void *memory, size_t bytes, adi3d_result *result)
{
#if TB_LAUNCHES
    return adi3d_device<unused>(problem, parameters, 0, memory, bytes, result);
#else
    return adi3d_host(problem, parameters, adi3d_p_threads(), memory, bytes, result);
#endif
}
