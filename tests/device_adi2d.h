/* device_adi2d.h - what the tests of pde/adi2d.h's kernels share: batches in host memory, solved on the device.
   MIT licence, see LICENSE. */
#ifndef DEVICE_ADI2D_H
#define DEVICE_ADI2D_H

#include "adi2d_cases.h"
#include "device_memory.h"

/* Solves a batch in host memory on the device: copies all that it points to there, and takes memory of exactly the
   bytes that the launch asks for. */
template <class Parameters>
static int solve_there(const fd_batch *batch, const Parameters *parameters, size_t number, size_t bytes,
                       int launch(const fd_batch *, const Parameters *, void *, size_t, cudaStream_t))
{
    const size_t n = (size_t)batch->problems, times = n * (size_t)(1 + batch->dates), spots = (size_t)batch->spots;
    const size_t grid_bytes = times * (size_t)batch->points[0] * (size_t)batch->points[1] * number;
    std::vector<fd_problem> problem(batch->problem, batch->problem + n);
    std::vector<device_memory *> kept;
    auto there = [&](const void *from, size_t size) {
        kept.push_back(new device_memory(size, from));
        return kept.back()->data();
    };
    for (fd_problem &p : problem) {
        for (int d = 0; d < 2; d++)
            if (p.points[d] && p.axis[d].points > 0)
                p.points[d] = (double *)there(p.points[d], (size_t)p.axis[d].points * sizeof(double));
        int dates = p.times.dates > 0 ? p.times.dates < batch->dates ? p.times.dates : batch->dates : 0;
        if (p.times.date) p.times.date = (double *)there(p.times.date, (size_t)dates * sizeof(double));
        if (p.at_date) p.at_date = (fd_date *)there(p.at_date, (size_t)dates * sizeof(fd_date));
        if (p.spot) p.spot = (double *)there(p.spot, 2 * spots * sizeof(double));
    }
    device_memory problems(n * sizeof(fd_problem), problem.data()), status(n * sizeof(fd_status), batch->status);
    device_memory values(batch->values ? times * spots * sizeof(fd_values) : 0, batch->values);
    device_memory grid(batch->grid ? grid_bytes : 0, batch->grid);
    device_memory parameters_there(n * sizeof(Parameters), parameters), memory(bytes);
    fd_batch device = *batch;
    device_memory *coordinates[2];
    for (int d = 0; d < 2; d++) {
        const double *from = batch->coordinates[d];
        coordinates[d] = new device_memory(from ? n * (size_t)batch->points[d] * sizeof(double) : 0, from);
        device.coordinates[d] = from ? (double *)coordinates[d]->data() : NULL;
    }
    device.problem = (fd_problem *)problems.data(), device.status = (fd_status *)status.data();
    device.values = batch->values ? (fd_values *)values.data() : NULL;
    device.grid = batch->grid ? grid.data() : NULL;
    const int said = launch(&device, (Parameters *)parameters_there.data(), memory.data(), bytes, 0);
    const cudaError_t error = cudaDeviceSynchronize();
    bool whole = status.back(batch->status) & values.back(batch->values) & grid.back(batch->grid);
    for (int d = 0; d < 2; d++) {
        whole &= coordinates[d]->back(batch->coordinates[d]);
        delete coordinates[d];
    }
    whole &= problems.back(NULL) & parameters_there.back(NULL) & memory.back(NULL);
    for (device_memory *m : kept) {
        whole &= m->back(NULL);
        delete m;
    }
    CHECK(whole, "a guard of device memory has been written");
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
    return said ? said : (int)error;
}

#define SOLVER(model, way, bytes, precision, real)                                                                     \
    static int model##_##way##_solver_##precision(const fd_batch *batch, const model##_parameters *parameters)         \
    {                                                                                                                  \
        return solve_there(batch, parameters, sizeof(real), model##_##bytes##_##precision<>(batch),                    \
                           model##_##way##_##precision<>);                                                             \
    }

/* Solves by one given kernel of those from which MODEL_onchip chooses, in clusters of a given size, which may have more
   blocks than there are lines. */
static int asked_size, asked_rows;
#define ASKED(model, precision, real)                                                                                  \
    static int model##_asked_##precision(const fd_batch *batch, const case_parameters *parameters, void *memory,       \
                                         size_t bytes, cudaStream_t stream)                                            \
    {                                                                                                                  \
        enum { THREADS = sizeof(real) == 4 ? 512 : 256 };                                                              \
        model##_rooms_##precision::fd_p_launch launch;                                                                 \
        memset(&launch, 0, sizeof launch);                                                                             \
        launch.batch = *batch, launch.parameters = parameters, launch.memory = (unsigned char *)memory;                \
        launch.bytes = bytes / (size_t)batch->problems;                                                                \
        model##_rooms_##precision::fd_p_chosen chosen;                                                                 \
        if (batch->kind == ADI2D_PRODUCTS)                                                                             \
            chosen = model##_rooms_##precision::adi2d_p_choose<16, THREADS, 1, 1>(&launch, asked_size);                \
        else if (asked_rows == 16)                                                                                     \
            chosen = model##_rooms_##precision::adi2d_p_choose<16, THREADS, 1, 0>(&launch, asked_size);                \
        else                                                                                                           \
            chosen = model##_rooms_##precision::adi2d_p_choose<8, 512, 1, 0>(&launch, asked_size);                     \
        if (chosen.bytes == 0) return FD_NO_ROOM;                                                                      \
        return (int)model##_rooms_##precision::fd_p_ready_and_march<512>(launch, chosen, stream);                      \
    }                                                                                                                  \
    static int model##_asked_solver_##precision(const fd_batch *batch, const case_parameters *parameters)              \
    {                                                                                                                  \
        return solve_there(batch, parameters, sizeof(real), model##_onchip_bytes_##precision<>(batch),                 \
                           model##_asked_##precision);                                                                 \
    }

/* Compares random problems solved by clusters of 1, 2, 4 and 8 blocks, with both numbers of rows a thread, with the
   reference; their steps are products of factors if the model allows that. The emulator takes warps and blocks in
   random order. */
static inline void by_clusters(const case_runner *runner, case_random *random)
{
#ifdef SIMT_EMULATOR
    simt_permute(case_bits(random));
#endif
    for (int size = 1; size <= 8; size *= 2)
        for (int rows = 8; rows <= 16; rows *= 2) {
            if (check_short() && size != (rows == 8 ? 2 : 8)) continue;
            asked_size = size, asked_rows = rows;
            const int like = (runner->has & CASE_MIXES) || rows == 8 ? CASE_ANY : CASE_PRODUCT;
            case_random_batch(runner, random, like == CASE_PRODUCT ? 4 : 2, 20, 36, like, case_tolerance(runner));
#ifdef SIMT_EMULATOR
            CHECK(simt.cluster_size == size, "a cluster of %d instead of %d", simt.cluster_size, size);
#endif
        }
#ifdef SIMT_EMULATOR
    simt_permute(0);
#endif
}

#endif
