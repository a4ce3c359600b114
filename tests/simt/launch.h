/* launch.h - runs a launch, block after block. */
#ifndef SIMT_LAUNCH_H
#define SIMT_LAUNCH_H

#include "standstill.h"

/* Gives one turn to each lane of the warp that can run. */
SIMT_OWN void simt_run_warp(int number)
{
    simt_warp &warp = simt.warps[number];
    unsigned todo = warp.ready;
    unsigned char order[SIMT_LANES];
    simt_order(order, SIMT_LANES);
    warp.ready = 0;
    simt.slept = false;
    for (int i = 0; i < SIMT_LANES && !simt.abandoned; i++)
        if (todo >> order[i] & 1)
            simt_resume(number * SIMT_LANES + order[i]);
}

/* Runs the warps of the block until none can proceed. In order, a warp runs until all of its lanes wait for other
   warps, or one sleeps. In random order another warp may come in between. Returns whether a warp ran. */
SIMT_OWN bool simt_run_block(void)
{
    unsigned char order[SIMT_MAX_WARPS];
    bool somebody_ran = false;
    while (simt_this_block().live && !simt.abandoned) {
        bool nobody_ran = true;
        simt_order(order, simt_warp_count());
        for (int i = 0; i < simt_warp_count(); i++) {
            while (simt.warps[order[i]].ready && !simt.abandoned) {
                nobody_ran = false;
                simt_run_warp(order[i]);
                if (simt.slept || (simt.random && simt_random_below(2)))
                    break;
            }
        }
        if (nobody_ran)
            break;
        somebody_ran = true;
    }
    return somebody_ran;
}

/* Runs the blocks of a cluster in turn, each until it can go no further. */
SIMT_OWN void simt_run_cluster(void)
{
    unsigned char order[SIMT_MAX_CLUSTER];
    int live = 1;
    while (live && !simt.abandoned) {
        bool nobody_ran = true;
        simt_order(order, simt.cluster_size);
        for (int i = 0; i < simt.cluster_size && !simt.abandoned; i++) {
            simt_enter_block(order[i]);
            nobody_ran = !simt_run_block() && nobody_ran;
        }
        live = 0;
        for (int r = 0; r < simt.cluster_size; r++)
            live += simt.blocks[r]->live;
        if (live && nobody_ran && !simt.abandoned)
            simt_explain_standstill();
    }
}

/* A memset that the address sanitizer does not see, because it also overwrites the space that lies between arrays. */
SIMT_OWN_UNSEEN void simt_fill(unsigned char *from, unsigned char *end)
{
#ifdef __SANITIZE_ADDRESS__
    for (volatile unsigned char *byte = from; byte < end; byte++)
        *byte = SIMT_POISON;
#else
    memset(from, SIMT_POISON, (size_t)(end - from));
#endif
}

/* Fills shared memory with NaN: a block must not find what the previous one left. */
SIMT_OWN void simt_fill_shared(void)
{
    simt_fill(simt.shared, simt_dynamic_shared + simt.shared_bytes);
    simt_fill(simt_dynamic_shared + SIMT_MAX_SHARED, simt.shared + simt.shared_range);
}

SIMT_OWN void simt_prepare_block(unsigned x, unsigned y, unsigned z)
{
    blockIdx = simt_this_block().index = uint3{x, y, z};
    simt_this_block().live = simt.thread_count;
    simt_this_block().boxes.clear();
    for (simt_meeting &barrier : simt_this_block().barriers)
        barrier = simt_meeting{};
    for (int w = 0; w < simt_warp_count(); w++) {
        int lanes = simt.thread_count - w * SIMT_LANES;
        simt_warp &warp = simt.warps[w];
        warp.lanes = lanes >= SIMT_LANES ? 0xffffffffu : (1u << lanes) - 1;
        warp.ready = warp.lanes;
        warp.exited = warp.waiting = 0;
    }
    for (int thread = 0; thread < simt.thread_count; thread++) {
        simt.threads[thread].copies.clear();
        simt.threads[thread].commits = 0;
        simt.threads[thread].has_waited = false;
        simt.threads[thread].cluster_syncs = 0;
        simt.threads[thread].awaited.clear();
        /* simt_thread_main does not return, so the address sanitizer's marks remain on its frame. */
        simt_unpoison(simt_stack_bottom(thread) + simt_stack_bytes(thread) - 256, 256);
        simt_prepare(&simt.threads[thread].context, simt_stack_bottom(thread), simt_stack_bytes(thread),
                     simt_thread_main);
    }
    simt_fill_shared();
    simt_watch_block();
}

/* Clears the address sanitizer's marks, which remain because the frames of an abandoned launch never return. */
SIMT_OWN void simt_clean_stacks(void)
{
    for (int thread = 0; thread < simt.thread_count; thread++)
        simt_unpoison(simt_stack_bottom(thread), simt_stack_bytes(thread));
}

/* Prepares the cluster whose first block is x, y, z. */
SIMT_OWN void simt_prepare_cluster(unsigned x, unsigned y, unsigned z)
{
    simt.cluster_syncing = 0;
    for (int r = 0; r < simt.cluster_size; r++) {
        unsigned rank = (unsigned)r, thread = 0, row = rank / simt.cluster.x;
        simt_enter_block(r);
        for (unsigned k = 0; k < blockDim.z; k++)
            for (unsigned j = 0; j < blockDim.y; j++)
                for (unsigned i = 0; i < blockDim.x; i++)
                    simt.threads[thread++].index = uint3{i, j, k};
        simt_prepare_block(x + rank % simt.cluster.x, y + row % simt.cluster.y, z + row / simt.cluster.y);
    }
}

SIMT_OWN void simt_run_grid(void)
{
    for (unsigned z = 0; z < gridDim.z; z += simt.cluster.z)
        for (unsigned y = 0; y < gridDim.y; y += simt.cluster.y)
            for (unsigned x = 0; x < gridDim.x && !simt.abandoned; x += simt.cluster.x) {
                simt_prepare_cluster(x, y, z);
                simt_run_cluster();
            }
    for (int r = 0; r < simt.cluster_size && simt.abandoned; r++) {
        simt_enter_block(r);
        simt_clean_stacks();
    }
}

SIMT_OWN cudaError_t simt_set_error(cudaError_t error)
{
    if (error != cudaSuccess)
        simt.last_error = error;
    return error;
}

/* How much dynamic shared memory a kernel may ask for, if cudaFuncSetAttribute has set it. */
struct simt_limit {
    const void *kernel;
    size_t bytes;
};
SIMT_STATE std::vector<simt_limit> simt_limits;

SIMT_OWN const simt_limit *simt_limit_of(const void *kernel)
{
    for (const simt_limit &limit : simt_limits)
        if (limit.kernel == kernel)
            return &limit;
    return nullptr;
}

SIMT_OWN void simt_set_limit(const void *kernel, size_t bytes)
{
    for (simt_limit &limit : simt_limits)
        if (limit.kernel == kernel) {
            limit.bytes = bytes;
            return;
        }
    simt_limits.push_back(simt_limit{kernel, bytes});
}

/* Returns the most threads that a kernel may have by its __launch_bounds__: the number of instructions before it that
   do nothing. */
#if defined __x86_64__ && !defined __clang__
extern "C" SIMT_HIDDEN __attribute__((weak)) unsigned char *__start___patchable_function_entries[];
extern "C" SIMT_HIDDEN __attribute__((weak)) unsigned char *__stop___patchable_function_entries[];

SIMT_OWN uint64_t simt_bound(const void *kernel)
{
    const unsigned char *code = (const unsigned char *)kernel;
    for (unsigned char **entry = __start___patchable_function_entries; entry < __stop___patchable_function_entries;
         entry++) {
        const unsigned char *byte = *entry;
        if (byte >= code || code - byte > SIMT_MAX_THREADS)
            continue;
        while (byte < code && *byte == 0x90)
            byte++;
        if (byte == code)
            return (uint64_t)(code - *entry);
    }
    return SIMT_MAX_THREADS;
}
#else
SIMT_OWN uint64_t simt_bound(const void *) { return SIMT_MAX_THREADS; }
#endif

SIMT_OWN cudaError_t simt_check_launch(const void *kernel, dim3 grid, dim3 cluster, dim3 block, size_t shared_bytes)
{
    uint64_t threads = (uint64_t)block.x * block.y * block.z; /* no overflow once each is known to be small */
    bool block_fits = block.x <= SIMT_MAX_THREADS && block.y <= SIMT_MAX_THREADS && block.z <= 64 && threads >= 1 &&
                      threads <= simt_bound(kernel);
    bool grid_fits = grid.x >= 1 && grid.y >= 1 && grid.z >= 1 && grid.x <= 0x7fffffffu && grid.y <= 0xffffu &&
                     grid.z <= 0xffffu;
    const simt_limit *limit = simt_limit_of(kernel);
    size_t allowed = limit ? limit->bytes : (size_t)SIMT_DEFAULT_SHARED;
    if (!block_fits || !grid_fits)
        return cudaErrorInvalidConfiguration;
    uint64_t blocks = (uint64_t)cluster.x * cluster.y * cluster.z;
    if (cluster.x < 1 || cluster.y < 1 || cluster.z < 1 || cluster.x > SIMT_MAX_CLUSTER ||
        cluster.y > SIMT_MAX_CLUSTER || cluster.z > SIMT_MAX_CLUSTER || blocks > SIMT_MAX_CLUSTER ||
        (blocks > 1 && simt.major < 9))
        return cudaErrorInvalidClusterSize;
    if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
        return cudaErrorInvalidValue;
    simt.shared_limit = limit ? simt.shared_most : (size_t)SIMT_DEFAULT_SHARED;
    return shared_bytes > allowed || shared_bytes > simt.shared_most ? cudaErrorInvalidValue : cudaSuccess;
}

/* Returns what is wrong with the launch's configuration. A fault of the kernel only sets the last error, as on a GPU,
   where it comes later. */
SIMT_OWN cudaError_t simt_run(const void *kernel, dim3 grid, dim3 cluster, dim3 block, size_t shared_bytes,
                              bool is_early)
{
    cudaError_t error = simt_set_error(simt_check_launch(kernel, grid, cluster, block, shared_bytes));
    if (error != cudaSuccess)
        return error;
    if (!simt.stacks)
        simt_map_stacks();
    gridDim = grid;
    blockDim = block;
    simt.cluster = cluster;
    simt.cluster_size = (int)(cluster.x * cluster.y * cluster.z);
    simt.rank = 0;
    simt.threads = nullptr;
    simt.thread_count = (int)(block.x * block.y * block.z);
    simt.shared_bytes = shared_bytes;
    simt.abandoned = false;
    simt.is_early = is_early;
    simt_poison(simt_dynamic_shared + shared_bytes, SIMT_MAX_SHARED - shared_bytes);
    simt_watch_launch();
    simt_run_grid();
    simt_unpoison(simt_dynamic_shared, SIMT_MAX_SHARED);
    return cudaSuccess;
}

/* The object to which SIMT_LAUNCH(...) evaluates. Its call takes the kernel's arguments, which convert as in any
   call. */
template <class... Parameters> struct simt_launcher {
    void (*kernel)(Parameters...);
    dim3 grid, cluster, block;
    size_t shared_bytes;
    bool is_early;

    SIMT_OWN cudaError_t operator()(Parameters... arguments) const
    {
        auto call = [&]() { kernel(arguments...); };
        simt.body = [](const void *data) { (*(const decltype(call) *)data)(); };
        simt.body_data = &call;
        return simt_run((const void *)kernel, grid, cluster, block, shared_bytes, is_early);
    }
};

template <class... Parameters>
SIMT_OWN simt_launcher<Parameters...> simt_launch(void (*kernel)(Parameters...), dim3 grid, dim3 cluster, dim3 block,
                                                  size_t shared_bytes, cudaStream_t, bool is_early)
{
    return simt_launcher<Parameters...>{kernel, grid, cluster, block, shared_bytes, is_early};
}

/* kernel<<<grid, block, shared_bytes, stream>>>, as launches.awk writes it. */
template <class... Parameters>
SIMT_OWN simt_launcher<Parameters...> simt_launch_of(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                                     size_t shared_bytes = 0, cudaStream_t = nullptr)
{
    return simt_launcher<Parameters...>{kernel, grid, 1, block, shared_bytes, false};
}

#define SIMT_LAUNCH(kernel, grid, block, shared_bytes, stream) \
    simt_launch(kernel, grid, 1, block, shared_bytes, stream, false)
#define SIMT_LAUNCH_EARLY(kernel, grid, block, shared_bytes, stream) \
    simt_launch(kernel, grid, 1, block, shared_bytes, stream, true)
#define SIMT_LAUNCH_CLUSTER(kernel, grid, cluster, block, shared_bytes, stream) \
    simt_launch(kernel, grid, cluster, block, shared_bytes, stream, false)

/* Returns how many clusters run at the same time: two if the launch is valid, else none. */
template <class... Parameters>
SIMT_OWN int simt_clusters(void (*kernel)(Parameters...), int size, dim3 block, size_t shared_bytes)
{
    cudaError_t error = simt_check_launch((const void *)kernel, (unsigned)size, (unsigned)size, block, shared_bytes);
    return error == cudaSuccess ? 2 : 0;
}

#endif
