/* launch.h - launches of kernels that are templates, clusters of blocks, asynchronous copies.

   MIT licence, see LICENSE. Copy trid.h and the folder trid beside it.

   A kernel that is a template over its sizes is compiled only for the sizes that a program launches:

       template <int k>
       TRID_KERNEL void scale(float factor, float *x)
       {
           for (int j = 0; j < k; j++) x[k * (blockDim.x * blockIdx.x + threadIdx.x) + j] *= factor;
       }

       cudaError_t error = trid_launch(scale<8>, blocks, threads, 0, stream, 2, x);

     launches
       trid_launch           launches a kernel; returns the error of this launch only
       trid_allow_shared     allows a kernel all the shared memory that a block can have
       trid_launch_cluster   as trid_launch, in clusters of blocks
       trid_launch_with      the same, with an early start if requested
       trid_compiled_for     the compute capability that a kernel was compiled for
       trid_clusters         how many clusters of a kernel run at the same time; 0 if none can
       trid_device_attribute   an attribute of the current device
       trid_best_pieces      the number of pieces into which to cut a march over planes
     cluster (blocks that run at the same time and access each other's shared memory)
       trid_cluster_rank, trid_cluster_size, trid_cluster_sync
       trid_cluster_map, trid_cluster_load, trid_cluster_store   numbers in another block's shared memory
       trid_mbarrier_init, trid_mbarrier_expect, trid_cluster_send, trid_mbarrier_wait   messages between blocks
     trid_barrier_all        a barrier for warps in different loops
     copies from global to shared memory, asynchronous from compute capability 8.0 on
       trid_copy_place_of, trid_copy_async, trid_copy_commit, TRID_COPY_AWAIT

   Common contract:
     Launches   Called on the host, in C++17. Functions that launch a kernel do not wait for it, and return the error
                of the CUDA runtime.
     Device     Device functions compile for every device. On a device without clusters a cluster is one block; without
                asynchronous copies a copy is complete when the call returns. */

#ifndef TB_BODY
#ifndef TRID_LAUNCH_H
#define TRID_LAUNCH_H

#include "../trid.h"

#if TB_DEVICE_SCOPES
/* ---- clusters: blocks that send each other rows ------------------------------------------------------------------ */

/* From compute capability 9.0 and CUDA 12.1 on, trid_launch_cluster groups the blocks of a launch into clusters. The
   blocks of a cluster run at the same time and can send to each other's shared memory. The receiver waits on an
   mbarrier, 8 bytes of its own shared memory; neither a barrier of all blocks nor a fence is needed. Here, in round i,
   each block, number `rank` of `size`, sends 16 bytes to every block of its cluster:

       __shared__ unsigned long long mbarrier[2];
       __shared__ __align__(16) float from[2][16][4];

       once            two threads   trid_mbarrier_init(&mbarrier[thread]);
                       all threads   trid_cluster_sync();
       i = 0, 1, ..    one thread    trid_mbarrier_expect(&mbarrier[i % 2], 16 * size);
                       one thread    for (q = 0 .. size - 1)
                                         trid_cluster_send(from[i % 2][rank], q, &mbarrier[i % 2], ..);
                       the readers   trid_mbarrier_wait(&mbarrier[i % 2], i / 2 % 2), and read `from[i % 2]`
                       all threads   __syncthreads();

   For an older device or CUDA all of these compile as well: a cluster is one block, a send copies within the block's
   own memory, and the mbarrier functions neither count nor wait (readers of other threads' data then need a
   __syncthreads). */
#if (defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201) ||    \
    (defined SIMT_EMULATOR && !defined __CUDACC__)
#define TRID_CLUSTERS 1
#define TRID_P_CLUSTER_SPACE "shared::cluster"
#else
#define TRID_CLUSTERS 0
#define TRID_P_CLUSTER_SPACE "shared"
#endif

/* Returns this block's rank in its cluster. */
TB_D int trid_cluster_rank(void)
{
#if TRID_CLUSTERS && defined __CUDA_ARCH__
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return (int)rank;
#elif TRID_CLUSTERS
    return simt_cluster_rank();
#else
    return 0;
#endif
}
/* Returns the number of blocks in the cluster. */
TB_D int trid_cluster_size(void)
{
#if TRID_CLUSTERS && defined __CUDA_ARCH__
    unsigned size;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return (int)size;
#elif TRID_CLUSTERS
    return simt_cluster_size();
#else
    return 1;
#endif
}

/* Waits for all threads of the cluster. Their earlier writes are visible to all afterwards.
   Lanes    all threads of all blocks of the cluster, warps converged
   Cost     a fence for the whole device; frequent messages cost less through an mbarrier */
TB_D void trid_cluster_sync(void)
{
#if TRID_CLUSTERS && defined __CUDA_ARCH__
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#elif TRID_CLUSTERS
    simt_cluster_sync();
#else
    __syncthreads();
#endif
}

/* An address in the shared memory of a block of the cluster, 32 bits on a GPU. */
#ifdef __CUDA_ARCH__
typedef unsigned trid_cluster_place;
#else
typedef unsigned char *trid_cluster_place;
#endif

/* Maps `place`, an address in this block's shared memory, to its counterpart in the shared memory of block `rank` of
   the cluster. The byte at an offset from `place` has its counterpart at the same offset from the result.
   Needs    a trid_cluster_sync before the first access and one after the last, since only in between is that block
            certain to be running; and one between a write and another block's read of it. Neighbouring lanes should
            access neighbouring words.
   Cost     1 operation */
TB_D trid_cluster_place trid_cluster_map(void *place, int rank)
{
#if TRID_CLUSTERS && defined __CUDA_ARCH__
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there)
        : "r"((unsigned)__cvta_generic_to_shared(place)), "r"(rank));
    return there;
#elif defined __CUDA_ARCH__
    (void)rank;
    return (unsigned)__cvta_generic_to_shared(place);
#elif TRID_CLUSTERS
    return (unsigned char *)simt_cluster_map(place, rank);
#else
    (void)rank;
    return (unsigned char *)place;
#endif
}

/* Initialises *mbarrier, in shared memory, as an mbarrier of the block.
   Lanes    one thread of each block, once for each mbarrier, before a trid_cluster_sync that precedes the first send */
TB_D void trid_mbarrier_init(unsigned long long *mbarrier)
{
#if TRID_CLUSTERS && defined __CUDA_ARCH__
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(mbarrier))
                 : "memory");
#elif TRID_CLUSTERS
    simt_cluster_open(mbarrier);
#else
    *mbarrier = 0;
#endif
}

/* Sets how many bytes complete the mbarrier's next phase. The phase counts bytes from every block, even those that
   arrived before the call.
   Needs    16 to 2^20 - 16 bytes; the previous phase is complete: this thread has waited for it, or a barrier of the
            block has followed another thread's wait
   Lanes    one thread of the block */
TB_D void trid_mbarrier_expect(unsigned long long *mbarrier, int bytes)
{
#if TRID_CLUSTERS && defined __CUDA_ARCH__
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(mbarrier)),
        "r"(bytes)
        : "memory");
#elif TRID_CLUSTERS
    simt_cluster_expect(mbarrier, bytes);
#else
    (void)mbarrier, (void)bytes;
#endif
}

/* Waits until the mbarrier has completed a phase: the 1st, 3rd, .. if `odd` is 0, the 2nd, 4th, .. if it is 1. (`odd`
   is what PTX calls the phase parity.)
   Leaves   the data sent in that phase, for the calling thread to read
   Lanes    any threads of the block that holds the mbarrier */
TB_D void trid_mbarrier_wait(unsigned long long *mbarrier, int odd)
{
#if TRID_CLUSTERS && defined __CUDA_ARCH__
    unsigned full;
    do {
        asm volatile("{\n\t"
                     ".reg .pred full;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 full, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, full;\n\t"
                     "}"
                     : "=r"(full)
                     : "r"((unsigned)__cvta_generic_to_shared(mbarrier)), "r"(odd)
                     : "memory");
    } while (!full);
#elif TRID_CLUSTERS
    simt_cluster_await(mbarrier, odd);
#else
    (void)mbarrier, (void)odd;
#endif
}

/* Sends the 16 bytes at v, four floats or two doubles, to block `rank`, which may be the sender's own. They arrive at
   the counterpart of `to` in that block, and count for the counterpart of `mbarrier` there.
   Needs    `to` aligned to 16 bytes; that block's threads have already read the earlier data there, and its mbarrier
            has completed all earlier phases. Alternating between two addresses and two mbarriers ensures both if each
            block, before it sends again, has waited for all others and read what they sent.
   Lanes    any; the call does not wait */
TB_D void trid_cluster_send(void *to, int rank, unsigned long long *mbarrier, const void *v)
{
#if TRID_CLUSTERS && defined __CUDA_ARCH__
    const unsigned there = (unsigned)__cvta_generic_to_shared(to), full = (unsigned)__cvta_generic_to_shared(mbarrier);
    unsigned long long word[2];
    memcpy(word, v, sizeof word);
    asm volatile("{\n\t"
                 ".reg .u32 to, box;\n\t"
                 "mapa.shared::cluster.u32 to, %0, %2;\n\t"
                 "mapa.shared::cluster.u32 box, %1, %2;\n\t"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [to], {%3, %4}, [box];\n\t"
                 "}" ::"r"(there),
                 "r"(full), "r"(rank), "l"(word[0]), "l"(word[1])
                 : "memory");
#elif TRID_CLUSTERS
    simt_cluster_send(to, rank, mbarrier, v);
#else
    (void)rank, (void)mbarrier;
    memcpy(to, v, 16);
#endif
}

/* ---- a barrier for warps in different loops ---------------------------------------------------------------------- */

/* Waits for all `threads` threads of the block. Warps may wait in different calls, such as those in different loops;
   with __syncthreads all must wait in the same call.
   Needs    `threads` a multiple of 32
   Lanes    all of the block
   Shared   no memory; the block's barrier number 1 */
TB_D void trid_barrier_all(int threads)
{
#ifdef __CUDA_ARCH__
    asm volatile("barrier.sync 1, %0;" ::"r"(threads) : "memory");
#elif defined SIMT_EMULATOR
    simt_barrier(1, threads);
#else
    (void)threads; /* the host's pass over device code */
#endif
}

/* ---- asynchronous copies ----------------------------------------------------------------------------------------- */

/* An address in shared memory for trid_copy_async: 32 bits on a GPU with asynchronous copies, else a pointer. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
typedef unsigned trid_copy_place;
#else
typedef unsigned char *trid_copy_place;
#endif

/* Returns the address of p, which points to shared memory. */
TB_D trid_copy_place trid_copy_place_of(void *p)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    unsigned address = (unsigned)__cvta_generic_to_shared(p);
    asm volatile("" : "+r"(address)); /* otherwise the compiler computes it again for each copy */
    return address;
#else
    return (unsigned char *)p;
#endif
}

/* Copies 16 bytes from `from`, in global memory, to the address `offset` bytes beyond `to`, in shared memory;
   asynchronously from compute capability 8.0 on. Both addresses are multiples of 16. trid_copy_commit closes a burst of
   copies. TRID_COPY_AWAIT(n), with n a literal, waits until all but the last n bursts of the thread have arrived. */
TB_D void trid_copy_async(trid_copy_place to, int offset, const void *from)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + (unsigned)offset), "l"(from) : "memory");
#elif defined SIMT_EMULATOR
    simt_copy_async(to + offset, from, 16);
#else
    *(float4 *)(to + offset) = *(const float4 *)from;
#endif
}
TB_D void trid_copy_commit(void)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#elif defined SIMT_EMULATOR
    simt_copy_commit();
#endif
}
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
#define TRID_COPY_AWAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#elif defined SIMT_EMULATOR
#define TRID_COPY_AWAIT(n) simt_copy_await(n)
#else
#define TRID_COPY_AWAIT(n) ((void)0)
#endif

#endif /* TB_DEVICE_SCOPES */

/* ---- launches: kernels that are compiled only where they are called ---------------------------------------------- */

/* TB_LAUNCHES: whether there are launches. They need C++17. Kernels are templates over their sizes, so a program pays
   only for those that it launches. TRID_KERNEL precedes a kernel's return type. TRID_DYNAMIC_SHARED(name) declares, in
   a kernel, the launch's dynamic shared memory: unsigned chars from `name` on. */
#if TB_DEVICE_SCOPES && !defined __CUDACC_RTC__
#define TB_LAUNCHES 1
#if __cplusplus < 201703L
#error "Triband's kernels and launches need C++17: pass -std=c++17"
#endif
#ifdef __CUDACC__
#define TRID_KERNEL static __global__
#define TRID_DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#else
#define TRID_KERNEL static __global__ __attribute__((unused))
#define TRID_DYNAMIC_SHARED(name) SIMT_DYNAMIC_SHARED(name)
#endif

extern "C++" { /* the header may be included inside extern "C" */
template <class tb_type>
struct trid_same {
    typedef tb_type type;
};

/* Launches kernel(arguments...), converting the arguments to the kernel's own types.
   Returns  the error of this launch, not that of an earlier call that was refused. (If a kernel fails while it runs,
            for example at a bad address, later launches report it too.) */
template <class... parameters>
static inline cudaError_t trid_launch(void (*kernel)(parameters...), dim3 grid, dim3 block, size_t bytes,
                                      cudaStream_t stream, typename trid_same<parameters>::type... arguments)
{
#ifdef __CUDACC__
    void *pointers[] = {(void *)&arguments..., NULL}; /* NULL: an array has at least one element */
    return cudaLaunchKernel((const void *)kernel, grid, block, pointers, bytes, stream);
#else
    return SIMT_LAUNCH(kernel, grid, block, bytes, stream)(arguments...);
#endif
}

/* Returns an attribute of the current device, or 0 if the runtime fails.
   Cost     two calls to the runtime */
static inline int trid_device_attribute(enum cudaDeviceAttr attribute)
{
    int device, value;
    return cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess
               ? value
               : 0;
}

/* Returns into how many pieces to cut a march over planes so that it takes the least time. The pieces differ by at most
   one plane; if there is more than one, each has at least 4. Each piece takes `blocks` blocks, and costs `more` planes
   in addition to its own. The device runs `slots` blocks at the same time. Returns 1 if `slots` is not positive. */
static inline int trid_best_pieces(int planes, long long blocks, int slots, int more)
{
    int best = 1;
    long long least = 0;
    for (int s = 1; slots > 0 && (s == 1 || s <= planes / 4); s++) {
        const long long time = ((blocks * s - 1) / slots + 1) * ((planes - 1) / s + 1 + more);
        if (s == 1 || time < least) least = time, best = s;
    }
    return best;
}

/* Allows a kernel the most dynamic shared memory that the current device can give a block: all that the kernel's
   static memory leaves. This amount is the same for all launches, so host threads that need different amounts do not
   disturb each other.
   Returns  cudaSuccess, or the runtime's error
   Cost     three calls to the runtime, four the first time */
template <class... parameters>
static inline cudaError_t trid_allow_shared(void (*kernel)(parameters...))
{
    int device, most = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
#ifdef __CUDACC__
    cudaFuncAttributes compiled;
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&compiled, (const void *)kernel);
    if (error == cudaSuccess) most -= (int)compiled.sharedSizeBytes;
    if (error != cudaSuccess || compiled.maxDynamicSharedSizeBytes >= most) return error;
    return cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
#else
    return error != cudaSuccess ? error
                                : cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
#endif
}

/* Returns the compute capability, times 10, that the kernel was compiled for; 0 if the runtime fails. It may be lower
   than the device's, since the driver can compile an older device's PTX for a newer one.
   Cost     a call to the runtime, under the emulator two */
template <class... parameters>
static inline int trid_compiled_for(void (*kernel)(parameters...))
{
#ifdef __CUDACC__
    cudaFuncAttributes compiled;
    return cudaFuncGetAttributes(&compiled, (const void *)kernel) == cudaSuccess ? compiled.ptxVersion : 0;
#else
    (void)kernel;
    return 10 * trid_device_attribute(cudaDevAttrComputeCapabilityMajor);
#endif
}

/* Launches as trid_launch does, in clusters of `size` blocks along x. If `early` is not 0, the kernel may begin before
   the preceding kernel on the stream has ended: as soon as each of that kernel's blocks has ended or has allowed it
   (griddepcontrol.launch_dependents). The kernel must itself wait for the data that the preceding one writes
   (griddepcontrol.wait).
   Needs    if `early` is not 0: trid_compiled_for(kernel) >= 90, since older PTX can neither allow nor wait */
template <class... parameters>
static inline cudaError_t trid_launch_with(int early, int size, void (*kernel)(parameters...), dim3 grid, dim3 block,
                                           size_t bytes, cudaStream_t stream,
                                           typename trid_same<parameters>::type... arguments)
{
#if !defined __CUDACC__
    return simt_launch(kernel, grid, dim3((unsigned)size), block, bytes, stream, early != 0)(arguments...);
#elif CUDART_VERSION >= 11080
    void *pointers[] = {(void *)&arguments..., NULL};
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = attributes;
    if (early) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (size > 1) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attributes[config.numAttrs].val.clusterDim.y = attributes[config.numAttrs].val.clusterDim.z = 1;
        attributes[config.numAttrs++].val.clusterDim.x = (unsigned)size;
    }
    return cudaLaunchKernelExC(&config, (const void *)kernel, pointers);
#else
    return size > 1 ? cudaErrorNotSupported : trid_launch(kernel, grid, block, bytes, stream, arguments...);
#endif
}

/* Launches as trid_launch does, in clusters of `size` blocks along x.
   Needs    a grid of whole clusters; trid_clusters(kernel, size, block, bytes) > 0 */
template <class... parameters>
static inline cudaError_t trid_launch_cluster(void (*kernel)(parameters...), dim3 grid, int size, dim3 block,
                                              size_t bytes, cudaStream_t stream,
                                              typename trid_same<parameters>::type... arguments)
{
    return trid_launch_with(0, size, kernel, grid, block, bytes, stream, arguments...);
}

/* Returns how many clusters the current device runs at the same time, each of `size` blocks of the kernel: 0 if the
   device has no clusters (before compute capability 9.0), if the kernel was compiled for devices that have none or by a
   CUDA before 12.1, if not even one fits, or if the runtime fails.
   Needs    permission for the kernel to have `bytes` of dynamic shared memory (trid_allow_shared)
   Leaves   a kernel that may be launched in clusters of more than 8 blocks, if `size` is above 8
   Cost     a few calls to the CUDA runtime */
template <class... parameters>
static inline int trid_clusters(void (*kernel)(parameters...), int size, dim3 block, size_t bytes)
{
    if (trid_device_attribute(cudaDevAttrComputeCapabilityMajor) < 9) return 0;
#if !defined __CUDACC__
    return simt_clusters(kernel, size, block, bytes);
#elif CUDART_VERSION >= 12010
    int clusters = 0;
    if (trid_compiled_for(kernel) < 90 ||
        (size > 8 &&
         cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess))
        return 0;
    cudaLaunchAttribute attribute[1];
    cudaLaunchConfig_t config = {};
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = (unsigned)size;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    config.gridDim = dim3((unsigned)size);
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.attrs = attribute;
    config.numAttrs = 1;
    return cudaOccupancyMaxActiveClusters(&clusters, (const void *)kernel, &config) == cudaSuccess ? clusters : 0;
#else
    (void)kernel, (void)size, (void)block, (void)bytes;
    return 0;
#endif
}
}
#else
#define TB_LAUNCHES 0
#endif

#ifdef __cplusplus
#define trid_cluster_load_f32 tb_f32::trid_cluster_load
#define trid_cluster_load_f64 tb_f64::trid_cluster_load
#endif

#define TB_BODY "launch.h"
#include "twice.h"

#endif /* TRID_LAUNCH_H */
#else /* TB_BODY: C over tb_real */

/* ---- clusters: numbers in the shared memory of other blocks ------------------------------------------------------ */

#if TB_DEVICE_SCOPES

/* Returns the number at an address in the shared memory of any block of the cluster (trid_cluster_map).
   Lanes    any */
TB_D tb_real trid_cluster_load(trid_cluster_place place)
{
#if !defined __CUDA_ARCH__
    return *(tb_real *)place;
#else
    tb_real x;
#if TB_BYTES == 4
    asm volatile("ld." TRID_P_CLUSTER_SPACE ".f32 %0, [%1];" : "=f"(x) : "r"(place) : "memory");
#else
    asm volatile("ld." TRID_P_CLUSTER_SPACE ".f64 %0, [%1];" : "=d"(x) : "r"(place) : "memory");
#endif
    return x;
#endif
}

/* Stores a number at such an address.
   Lanes    any */
TB_D void trid_cluster_store(trid_cluster_place place, tb_real x)
{
#if !defined __CUDA_ARCH__
    *(tb_real *)place = x;
#elif TB_BYTES == 4
    asm volatile("st." TRID_P_CLUSTER_SPACE ".f32 [%0], %1;" ::"r"(place), "f"(x) : "memory");
#else
    asm volatile("st." TRID_P_CLUSTER_SPACE ".f64 [%0], %1;" ::"r"(place), "d"(x) : "memory");
#endif
}

#endif /* TB_DEVICE_SCOPES */

#endif /* TB_BODY */
