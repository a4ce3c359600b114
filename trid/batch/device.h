/* device.h - a room of trid/batch.h: properties of the device; copies into shared memory; launches of tiles.
   MIT licence, see LICENSE. */

/* Launch bounds, before a kernel's qualifiers: threads of a block, least number of blocks per multiprocessor. */
#define TRID_P_BATCH_BOUNDS(...) __launch_bounds__(__VA_ARGS__)

/* Elements that shared memory serves at a time; the length of a warp's 32 k rows there, padded as in transpose.h. */
#define TRID_P_BATCH_BANKS(tb_real) (sizeof(tb_real) == 4 ? 32 : 16)
#define TRID_P_BATCH_LEN(tb_real, k) (sizeof(tb_real) == 4 ? TRANSPOSE_LEN_F32(k) : TRANSPOSE_LEN_F64(k))
/* An array in shared memory with an element for each partition of a tile: thread t's slot; the array's length. */
#define TRID_P_BATCH_SLOT(tb_real, systems, parts, t)                                                                  \
    TRID_INTERLEAVED_SLOT(systems, parts, TRID_P_BATCH_BANKS(tb_real), t)
#define TRID_P_BATCH_SPAN(tb_real, systems, parts) TRID_P_BATCH_SLOT(tb_real, systems, parts, (systems) * (parts))

/* Whether all devices of a compute capability (`version`, 10 * major + minor) have clusters and 227 KiB of shared
   memory per block, enough to pipeline every tile; always 0 with CUDA before 12.1, with which the kit has no clusters.
   In code for such a capability, kernels that only other devices need are empty. A device for which the driver compiles
   such code does without these kernels. */
#define TRID_P_BATCH_SHARED_BYTES (227 * 1024)
#ifndef TRID_P_BATCH_ALWAYS_PIPELINED
#if defined __CUDACC__ && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1201
#define TRID_P_BATCH_ALWAYS_PIPELINED(version) 0
#else
#define TRID_P_BATCH_ALWAYS_PIPELINED(version) ((version) >= 90 && (version) < 120)
#endif
#endif
/* Returns whether the program is compiled for any compute capability for which TRID_P_BATCH_ALWAYS_PIPELINED is 0;
   true if the compiler does not list the capabilities. If false, kernels that only such capabilities need are not
   compiled. */
constexpr bool trid_p_batch_has_elsewhere()
{
#ifdef __CUDA_ARCH_LIST__
    constexpr int archs[] = {__CUDA_ARCH_LIST__};
    for (int arch : archs)
        if (!TRID_P_BATCH_ALWAYS_PIPELINED(arch / 10)) return true;
    return false;
#else
    return true;
#endif
}
#ifdef __CUDA_ARCH__
#define TRID_P_BATCH_VERSION (__CUDA_ARCH__ / 10)
#elif defined SIMT_EMULATOR
#define TRID_P_BATCH_VERSION simt_version()
#else
#define TRID_P_BATCH_VERSION 0
#endif

/* Asynchronous copies into shared memory, of 4, 8 or 16 bytes; before compute capability 8.0 plain ones, and nothing is
   pipelined. With each copy, the `ahead` bytes around it (0, 128 or 256) are prefetched into the second-level cache. If
   the rows of a block are narrower than that, neighbouring blocks find their rows in the cache. */
#define TRID_P_BATCH_COPY(how, ahead)                                                                                  \
    asm volatile("cp.async." how ".shared.global" ahead                                                                \
                 " [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),                                     \
                 "l"(from), "n"(bytes)                                                                                 \
                 : "memory")
template <int bytes, int ahead, class tb_real>
TB_D void trid_p_batch_copy(tb_real *to, const tb_real *from)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    if (bytes == 16 && ahead == 0) TRID_P_BATCH_COPY("cg", ""); /* only these can bypass the first-level cache */
    if (bytes == 16 && ahead == 128) TRID_P_BATCH_COPY("cg", ".L2::128B");
    if (bytes == 16 && ahead == 256) TRID_P_BATCH_COPY("cg", ".L2::256B");
    if (bytes < 16 && ahead == 0) TRID_P_BATCH_COPY("ca", "");
    if (bytes < 16 && ahead == 128) TRID_P_BATCH_COPY("ca", ".L2::128B");
    if (bytes < 16 && ahead == 256) TRID_P_BATCH_COPY("ca", ".L2::256B");
#elif defined SIMT_EMULATOR
    simt_copy_async(to, from, bytes);
#else
    for (int i = 0; i < bytes / (int)sizeof(tb_real); i++) to[i] = from[i];
#endif
}

/* Converts an error of the CUDA runtime to the status of a launch. */
static inline int trid_p_batch_launched(cudaError_t error)
{
    return error == cudaSuccess ? TRID_BATCH_OK : TRID_BATCH_LAUNCH_FAILED;
}

/* Counts the tiles, of `width` systems each, and the blocks, of per_block tiles each. */
static inline int trid_p_batch_count(trid_p_batch_plan *plan, int width, int per_block, unsigned *blocks)
{
    const long long per_group = (plan->lines.systems + width - 1) / width, tiles = per_group * plan->lines.groups;
    if (per_group > 0x7fffffffll / plan->lines.groups) return TRID_BATCH_BAD_SIZE;
    plan->per_group = (unsigned)per_group;
    plan->tiles = (unsigned)tiles;
    *blocks = (unsigned)((tiles + per_block - 1) / per_block);
    return TRID_BATCH_OK;
}

/* Launches a kernel of one-dimensional blocks, with `bytes` bytes of shared memory. */
template <class... parameters, class... given>
static int trid_p_batch_start(void (*kernel)(parameters...), long long blocks, int threads, size_t bytes,
                              cudaStream_t stream, const given &...arguments)
{
    return trid_p_batch_launched(
        trid_launch(kernel, dim3((unsigned)blocks), dim3((unsigned)threads), bytes, stream, arguments...));
}

/* Queries what launches need to know of the device, except its clusters (trid_p_batch_clusters). If the kernel was
   compiled for an earlier architecture, that one counts. */
template <class... parameters>
static int trid_p_batch_ask_device(void (*kernel)(parameters...), trid_device *of)
{
    int device, version;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&of->processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&of->shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&of->major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
#ifdef __CUDACC__
    cudaFuncAttributes compiled;
    if (cudaFuncGetAttributes(&compiled, (const void *)kernel) != cudaSuccess) return TRID_BATCH_LAUNCH_FAILED;
    version = compiled.ptxVersion;
#else
    (void)kernel;
    version = simt_version();
#endif
    if (of->major > version / 10) of->major = version / 10;
    of->always_pipelined = TRID_P_BATCH_ALWAYS_PIPELINED(version);
    return TRID_BATCH_OK;
}

/* Copies an array to another of the same layout. In `lines`, n and step must describe neighbours in memory: the caller
   exchanges them with systems and stride if need be. */
template <class tb_real>
TRID_P_BATCH_BOUNDS(256)
TRID_KERNEL void trid_p_batch_duplicate(trid_lines lines, const tb_real *from, tb_real *to)
{
    const long long all = lines.n * lines.systems * lines.groups, advance = (long long)gridDim.x * 256;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < all; i += advance) {
        const long long line = i / lines.n, group = line / lines.systems;
        const long long at = (i - line * lines.n) * lines.step + (line - group * lines.systems) * lines.stride;
        to[at + group * lines.jump] = from[at + group * lines.jump];
    }
}

/* Stands in for all kernels of this code when the runtime is asked what holds for all of them. It is a template, so
   that it exists only in programs with trid_device_query or with launches that need to know the device. */
template <int unused = 0>
TRID_KERNEL void trid_p_batch_stand_in(void)
{
}

/* Queries what holds for all kernels of this code. */
template <int unused = 0>
static int trid_p_batch_query(trid_device *of)
{
    void (*const kernel)(void) = trid_p_batch_stand_in<>;
    const int status = trid_p_batch_ask_device(kernel, of);
    if (status || trid_allow_shared(kernel) != cudaSuccess) return TRID_BATCH_LAUNCH_FAILED;
    of->code = (const void *)kernel;
    for (int size = 0; size <= 16; size++)
        of->clusters[size] = size ? trid_clusters(kernel, size, dim3(256), (size_t)of->shared_bytes) : 0;
    return TRID_BATCH_OK;
}

/* Returns the caller's description of the device if it holds for this code, else null. */
template <class tb_real>
static const trid_device *trid_p_batch_known_device(const trid_p_batch_work<tb_real> &work)
{
    void (*const kernel)(void) = trid_p_batch_stand_in<>;
    return work.device && work.device->code == (const void *)kernel ? work.device : (const trid_device *)0;
}

/* Describes the device: as the caller did, or as the runtime does for a kernel. */
template <class tb_real, class... parameters>
static int trid_p_batch_device_of(const trid_p_batch_work<tb_real> &work, void (*kernel)(parameters...),
                                  trid_device *of)
{
    const trid_device *const known = trid_p_batch_known_device(work);
    if (!known) return trid_p_batch_ask_device(kernel, of);
    *of = *known;
    return TRID_BATCH_OK;
}

/* Allows a kernel `bytes` bytes of shared memory. All launches of a kernel allow the same, so concurrent host threads
   do not disturb each other. */
template <class... parameters>
static int trid_p_batch_allow(void (*kernel)(parameters...), int bytes)
{
    return trid_p_batch_launched(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

/* Returns how many clusters of `size` blocks of a kernel run at the same time. */
template <class... parameters>
static int trid_p_batch_clusters(void (*kernel)(parameters...), const trid_device *known, int size, dim3 block,
                                 size_t bytes)
{
    if (!known) return trid_clusters(kernel, size, block, bytes);
#if defined __CUDACC__ && CUDART_VERSION >= 12010
    if (size > 8 && cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess)
        return 0;
#endif
    return known->clusters[size];
}

/* Launches a kernel, with `bytes` bytes of shared memory, in `blocks` blocks. If resident is not 0, its blocks take one
   tile after another, and it gets at most `resident` of them per multiprocessor, so that all run at the same time. */
template <class... parameters, class... given>
static int trid_p_batch_launch_tiles(void (*kernel)(parameters...), unsigned blocks, int threads, int resident,
                                     size_t bytes, const trid_device &device, cudaStream_t stream,
                                     const given &...arguments)
{
    const unsigned most = (unsigned)(device.processors * resident);
    return trid_p_batch_start(kernel, most && blocks > most ? most : blocks, threads, bytes, stream, arguments...);
}
