/* test_simt.cu - checks that tests/simt/simt.h runs kernels as CUDA specifies, and reports what CUDA leaves undefined.
   MIT licence, see LICENSE.

   The first half has shuffles, votes, barriers, shared memory and launches, with results computed on the host from the
   CUDA C++ Programming Guide. Compiled by nvcc it runs on a GPU, which confirms these results. The second half, only
   for the emulator, has every kind of fault, each next to a correct twin. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../gpu.h"

#include "../check.h"

/* Device memory of n values, and its copy on the host. */
template <class T> struct buffer {
    T *device, *host;
    size_t bytes;

    explicit buffer(size_t n) : device(NULL), host((T *)malloc(n * sizeof(T))), bytes(n * sizeof(T))
    {
        GPU_OK(cudaMalloc(&device, bytes));
        GPU_OK(cudaMemset(device, 0, bytes));
    }
    ~buffer()
    {
        cudaFree(device);
        free(host);
    }
    const T *fetch()
    {
        GPU_OK(cudaGetLastError());
        GPU_OK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
        return host;
    }
};

/* ---- shuffles -------------------------------------------------------------------------------------------------- */

enum { INDEX, UP, DOWN, XOR, KINDS, WIDTHS = 6, FIRST_ARGUMENT = -5, LAST_ARGUMENT = 40 };
enum { ARGUMENTS = LAST_ARGUMENT - FIRST_ARGUMENT + 1 };

/* Any lane is a source for __shfl_sync, modulo the width; the others document what less than a warp does. */
__host__ __device__ static bool is_documented(int kind, int argument)
{
    return kind == INDEX || (argument >= 0 && argument < 32);
}

__host__ __device__ static size_t place_of(int kind, int width_log2, int argument, int lane)
{
    return (((size_t)kind * WIDTHS + (size_t)width_log2) * ARGUMENTS + (size_t)(argument - FIRST_ARGUMENT)) * 32 +
           (size_t)lane;
}

/* Different in every lane, with bits in both halves of a value of 8 bytes. */
template <class T> __host__ __device__ static T value_of_lane(int lane)
{
    return (T)(lane + 1) * (T)(sizeof(T) == 8 ? 4294967311ll : 1234567ll);
}

template <class T> __device__ static T shuffle(int kind, T value, int argument, int width)
{
    switch (kind) {
    case INDEX:
        return __shfl_sync(0xffffffffu, value, argument, width);
    case UP:
        return __shfl_up_sync(0xffffffffu, value, (unsigned)argument, width);
    case DOWN:
        return __shfl_down_sync(0xffffffffu, value, (unsigned)argument, width);
    default:
        return __shfl_xor_sync(0xffffffffu, value, argument, width);
    }
}

template <class T> GPU_KERNEL void all_shuffles(T *out)
{
    int lane = (int)threadIdx.x;
    for (int kind = 0; kind < KINDS; kind++)
        for (int width_log2 = 0; width_log2 < WIDTHS; width_log2++)
            for (int argument = FIRST_ARGUMENT; argument <= LAST_ARGUMENT; argument++)
                if (is_documented(kind, argument))
                    out[place_of(kind, width_log2, argument, lane)] =
                        shuffle(kind, value_of_lane<T>(lane), argument, 1 << width_log2);
}

/* The guide's words in terms of groups of width lanes and of positions within them. */
static int documented_source(int kind, int lane, int argument, int width)
{
    int group = lane / width, position = lane % width, other = lane ^ argument;
    switch (kind) {
    case INDEX: /* "the value held by srcLane modulo width" */
        return group * width + ((argument % width) + width) % width;
    case UP: /* "the lower delta lanes will be unchanged", in each group */
        return position < argument ? lane : lane - argument;
    case DOWN: /* "the upper delta lanes will remain unchanged" */
        return position + argument >= width ? lane : lane + argument;
    default: /* "earlier groups" can be read; for "later groups", "their own value" */
        return other / width > group ? lane : other;
    }
}

template <class T> static void test_shuffles(const char *type)
{
    buffer<T> out((size_t)KINDS * WIDTHS * ARGUMENTS * 32);
    GPU_LAUNCH(all_shuffles<T>, 1, 32, 0, 0)(out.device);
    const T *got = out.fetch();
    for (int kind = 0; kind < KINDS; kind++)
        for (int width_log2 = 0; width_log2 < WIDTHS; width_log2++)
            for (int argument = FIRST_ARGUMENT; argument <= LAST_ARGUMENT; argument++)
                for (int lane = 0; lane < 32 && is_documented(kind, argument); lane++) {
                    T want = value_of_lane<T>(documented_source(kind, lane, argument, 1 << width_log2));
                    CHECK(got[place_of(kind, width_log2, argument, lane)] == want,
                          "shuffle of %s: kind %d, width %d, argument %d, lane %d", type, kind, 1 << width_log2,
                          argument, lane);
                }
}

static void test_all_shuffles(void)
{
    test_shuffles<int>("int");
    test_shuffles<unsigned>("unsigned");
    test_shuffles<long>("long");
    test_shuffles<unsigned long>("unsigned long");
    test_shuffles<long long>("long long");
    test_shuffles<unsigned long long>("unsigned long long");
    test_shuffles<float>("float");
    test_shuffles<double>("double");
}

/* ---- votes ----------------------------------------------------------------------------------------------------- */

enum { VOTES = 5 };

/* The odd and the even lanes vote among themselves, in different branches, and a sum runs over each. */
GPU_KERNEL void votes_of_halves(int *out)
{
    int lane = (int)threadIdx.x, *mine = out + lane * VOTES;
    unsigned mask = lane % 2 ? 0xaaaaaaaau : 0x55555555u;
    if (lane % 2) {
        mine[0] = __any_sync(mask, lane == 7);
        mine[1] = __all_sync(mask, lane == 7);
        mine[2] = (int)__ballot_sync(mask, lane == 7);
    } else {
        mine[0] = __any_sync(mask, lane < 0);
        mine[1] = __all_sync(mask, lane >= 0);
        mine[2] = (int)__ballot_sync(mask, lane < 16);
    }
    int sum = lane;
    for (int distance = 2; distance < 32; distance *= 2)
        sum += __shfl_xor_sync(mask, sum, distance);
    mine[3] = sum;
    mine[4] = (int)__ballot_sync(0xffffffffu, lane % 3 == 0);
}

static void test_votes(void)
{
    buffer<int> out(32 * VOTES);
    GPU_LAUNCH(votes_of_halves, 1, 32, 0, 0)(out.device);
    const int *got = out.fetch();
    for (int lane = 0; lane < 32; lane++) {
        const int odd[] = {1, 0, 1 << 7, 256, 0x49249249}, even[] = {0, 1, 0x5555, 240, 0x49249249};
        for (int i = 0; i < VOTES; i++)
            CHECK(got[lane * VOTES + i] == (lane % 2 ? odd[i] : even[i]), "vote %d, lane %d: 0x%x", i, lane,
                  (unsigned)got[lane * VOTES + i]);
    }
}

/* ---- barriers and shared memory -------------------------------------------------------------------------------- */

/* Reverses the block's values through static shared memory, and counts votes. */
GPU_KERNEL void reverse(int *out)
{
    __shared__ int values[1024];
    int thread = (int)threadIdx.x, threads = (int)blockDim.x;
    values[thread] = thread * 7;
    int count = __syncthreads_count(thread % 3 == 0);
    int all = __syncthreads_and(thread < threads - 1), any = __syncthreads_or(thread == threads - 1);
    out[thread] = values[threads - 1 - thread] + (all << 20) + (any << 21) + (count << 22);
}

static void test_block_sizes(void)
{
    buffer<int> out(1024);
    for (int threads = 1; threads <= 1024; threads++) {
        GPU_LAUNCH(reverse, 1, threads, 0, 0)(out.device);
        const int *got = out.fetch();
        int wrong = 0;
        for (int i = 0; i < threads; i++)
            wrong += got[i] != (threads - 1 - i) * 7 + (1 << 21) + ((threads + 2) / 3 << 22);
        CHECK(wrong == 0, "reversing %d values: %d wrong", threads, wrong);
    }
}

/* A sum over the block in dynamic shared memory, within the last warp by __syncwarp. */
GPU_KERNEL void sum_block(double *out)
{
    GPU_DYNAMIC_SHARED(bytes);
    __shared__ double scale;
    double *sums = (double *)bytes;
    unsigned thread = threadIdx.x;
    if (thread == 0)
        scale = 0.5;
    sums[thread] = thread + 1.0;
    for (unsigned half = blockDim.x / 2; half >= 32; half /= 2) {
        __syncthreads();
        if (thread < half)
            sums[thread] += sums[thread + half];
    }
    for (unsigned half = 16; thread < 32 && half >= 1; half /= 2) {
        __syncwarp();
        double other = sums[thread ^ half];
        __syncwarp();
        sums[thread] += other;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + thread] = sums[0] * scale;
}

static void test_dynamic_shared(void)
{
    const int blocks = 3, threads = 256;
    buffer<double> out((size_t)blocks * threads);
    GPU_LAUNCH(sum_block, blocks, threads, threads * sizeof(double), 0)(out.device);
    const double *got = out.fetch();
    for (int i = 0; i < blocks * threads; i++)
        CHECK(got[i] == 0.5 * threads * (threads + 1) / 2, "sum in dynamic shared memory, thread %d: %g", i, got[i]);
}

/* Vector types in shared memory, whole and by member. */
GPU_KERNEL void transpose_vectors(float4 *out)
{
    __shared__ float4 rows[4];
    int row = (int)threadIdx.x;
    float first = (float)(4 * row);
    rows[row] = make_float4(first, first + 1, first + 2, first + 3);
    __syncthreads();
    const float *all = &rows[0].x;
    out[row] = make_float4(all[row], all[4 + row], all[8 + row], all[12 + row]);
}

static void test_vectors(void)
{
    CHECK(alignof(float4) == 16 && alignof(double2) == 16 && alignof(int2) == 8 && sizeof(longlong2) == 16,
          "alignment of vector types");
    buffer<float4> out(4);
    GPU_LAUNCH(transpose_vectors, 1, 4, 0, 0)(out.device);
    const float4 *got = out.fetch();
    for (int i = 0; i < 4; i++) {
        float f = (float)i;
        CHECK(got[i].x == f && got[i].y == f + 4 && got[i].z == f + 8 && got[i].w == f + 12, "column %d", i);
    }
}

/* All threads add to words that they share. */
GPU_KERNEL void use_atomics(int *out, float *sum, unsigned long long *claimed)
{
    __shared__ int count;
    int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    atomicAdd(&out[0], threadIdx.x == 0 ? count : 0);
    atomicMax(&out[1], thread);
    atomicMin(&out[2], -thread);
    atomicAdd(sum, 0.5f);
    if (atomicCAS(claimed, 0ull, (unsigned long long)thread + 1) == 0)
        atomicExch(&out[3], 1);
}

static void test_atomics(void)
{
    buffer<int> out(4);
    buffer<float> sum(1);
    buffer<unsigned long long> claimed(1);
    GPU_LAUNCH(use_atomics, 3, 100, 0, 0)(out.device, sum.device, claimed.device);
    const int *got = out.fetch();
    CHECK(got[0] == 300 && got[1] == 299 && got[2] == -299 && got[3] == 1, "atomics gave %d %d %d %d", got[0], got[1],
          got[2], got[3]);
    CHECK(sum.fetch()[0] == 150.0f, "atomic sum of floats");
    CHECK(claimed.fetch()[0] >= 1 && claimed.host[0] <= 300, "one thread claims the word");
}

/* ---- indices, bits, launches ----------------------------------------------------------------------------------- */

__device__ static unsigned linear(unsigned x, unsigned y, unsigned z, dim3 extent)
{
    return (z * extent.y + y) * extent.x + x;
}

GPU_KERNEL void number_threads(unsigned *out)
{
    unsigned block = linear(blockIdx.x, blockIdx.y, blockIdx.z, gridDim);
    unsigned thread = linear(threadIdx.x, threadIdx.y, threadIdx.z, blockDim);
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    atomicAdd(&out[block * threads + thread], 1 + __shfl_sync(1u << thread % 32, thread, (int)(thread % 32)));
}

static void test_dimensions(void)
{
    const dim3 shapes[] = {dim3(5), dim3(3, 2), dim3(2, 3, 4), dim3(1, 1, 64), dim3(33, 1, 2), dim3(16, 16)};
    for (dim3 grid : shapes)
        for (dim3 block : shapes) {
            unsigned blocks = grid.x * grid.y * grid.z, threads = block.x * block.y * block.z;
            buffer<unsigned> out((size_t)blocks * threads);
            GPU_LAUNCH(number_threads, grid, block, 0, 0)(out.device);
            const unsigned *got = out.fetch();
            unsigned wrong = 0;
            for (unsigned i = 0; i < blocks * threads; i++)
                wrong += got[i] != 1 + i % threads;
            CHECK(wrong == 0, "grid (%u,%u,%u) of blocks (%u,%u,%u): %u wrong", grid.x, grid.y, grid.z, block.x,
                  block.y, block.z, wrong);
        }
}

GPU_KERNEL void use_bits(int *ok, const float *three)
{
    bool right = __popc(0xf0f0u) == 8 && __popcll(~0ull) == 64 && __clz(1) == 31 && __clz(0) == 32 &&
                 __clzll(-1) == 0 && __clzll(0) == 64 && __ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1ll << 40) == 41 &&
                 __float_as_uint(1.0f) == 0x3f800000u && __uint_as_float(0x40000000u) == 2.0f &&
                 __float_as_int(-0.0f) < 0 && __int_as_float(0x3f800000) == 1.0f &&
                 __double_as_longlong(1.0) == 0x3ff0000000000000ll && __longlong_as_double(0) == 0.0;
    float x = __ldg(three), y = __ldcs(three), z = __ldcg(three);
    bool numbers = __fmaf_rn(x, y, z) == 12.0f && __fma_rn(0.1, 10.0, -1.0) == ldexp(1.0, -54) &&
                   __frcp_rn(x) == 1.0f / 3.0f && __drcp_rn(4.0) == 0.25 && min(2, 3) == 2 && max(2.5f, 3.0f) == 3.0f;
    __stcs(&ok[0], (int)right);
    __stcg(&ok[1], (int)numbers);
    __stwt(&ok[2], (int)warpSize);
}

static void test_bits(void)
{
    buffer<int> ok(3);
    buffer<float> three(1);
    const float value = 3;
    GPU_OK(cudaMemcpy(three.device, &value, sizeof value, cudaMemcpyHostToDevice));
    GPU_LAUNCH(use_bits, 1, 1, 0, 0)(ok.device, three.device);
    CHECK(ok.fetch()[0] && ok.host[1] && ok.host[2] == 32, "bits %d, numbers %d, warp size %d", ok.host[0], ok.host[1],
          ok.host[2]);
}

GPU_KERNEL void mark(int *out) { *out = 1; }
GPU_KERNEL void mark_by_another_name(int *out) { *out = 1; }

GPU_KERNEL void __launch_bounds__(96, 2) mark_bounded(int *out)
{
    if (threadIdx.x == 0 && threadIdx.y == 0)
        *out = 1;
}
template <int K, int W> GPU_KERNEL void __launch_bounds__(K * W) mark_of_size(int *out)
{
    if (threadIdx.x == 0 && threadIdx.y == 0)
        *out = K;
}

/* A launch that has to fail, and to run nothing. Versions of CUDA differ in which error it is. */
static void refuse(dim3 grid, dim3 block, size_t shared_bytes, const char *what, void (*kernel)(int *) = mark)
{
    buffer<int> out(1);
    GPU_LAUNCH(kernel, grid, block, shared_bytes, 0)(out.device);
    cudaError_t got = cudaGetLastError();
    CHECK(got != cudaSuccess && got != cudaErrorLaunchFailure &&
              cudaGetLastError() == cudaSuccess && out.fetch()[0] == 0,
          "%s: %s", what, cudaGetErrorName(got));
}

static void test_launch_limits(void)
{
    refuse(1, 1025, 0, "1025 threads");
    refuse(1, dim3(32, 33), 0, "32 times 33 threads");
    refuse(1, dim3(1, 1, 65), 0, "65 threads deep");
    refuse(1, 0, 0, "no threads");
    refuse(0, 1, 0, "no blocks");
    refuse(dim3(1, 65536), 1, 0, "65536 blocks high");
    refuse(1, 1, 48 * 1024 + 1, "more than 48 KiB");
    refuse(1, 97, 0, "more threads than the launch bounds", mark_bounded);
    refuse(1, dim3(32, 4), 0, "more threads than the launch bounds, in two dimensions", mark_bounded);
    refuse(1, 65, 0, "more threads than a template's launch bounds", mark_of_size<2, 32>);
    refuse(1, 513, 0, "more threads than a template's other launch bounds", mark_of_size<16, 32>);

    buffer<int> out(1);
    GPU_LAUNCH(mark_bounded, 1, 96, 0, 0)(out.device);
    CHECK(out.fetch()[0] == 1, "as many threads as the launch bounds");
    GPU_LAUNCH((mark_of_size<16, 32>), 1, dim3(32, 16), 0, 0)(out.device);
    CHECK(out.fetch()[0] == 16, "as many threads as a template's launch bounds");
    GPU_LAUNCH((mark_of_size<32, 32>), 1, 1024, 0, 0)(out.device);
    CHECK(out.fetch()[0] == 32, "as many threads as there may be");
    CHECK(cudaFuncSetAttribute(mark_by_another_name, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30) ==
              cudaErrorInvalidValue, "1 GiB of shared memory");
    cudaGetLastError();
    GPU_OK(cudaFuncSetAttribute(mark_by_another_name, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    GPU_LAUNCH(mark_by_another_name, 1, 1, 60000, 0)(out.device);
    CHECK(out.fetch()[0] == 1, "60000 bytes of shared memory after they were asked for");
}

static void test_runtime(void)
{
    int devices = 0, device = -1, warp = 0;
    cudaDeviceProp properties;
    size_t free_bytes = 0, total_bytes = 0;
    CHECK(cudaGetDeviceCount(&devices) == cudaSuccess && devices >= 1, "%d devices", devices);
    CHECK(cudaGetDevice(&device) == cudaSuccess && cudaSetDevice(device) == cudaSuccess, "device %d", device);
    CHECK(cudaGetDeviceProperties(&properties, device) == cudaSuccess && properties.maxThreadsPerBlock == 1024 &&
              properties.name[0], "properties");
    CHECK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device) == cudaSuccess && warp == 32, "warp of %d", warp);
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess && free_bytes <= total_bytes, "memory info");
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0, "name of an error");
    CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0, "text of an error");

    char *pinned = NULL, *bytes = NULL, *too_much = NULL;
    GPU_OK(cudaMallocHost(&pinned, 100));
    GPU_OK(cudaMalloc(&bytes, 100));
    CHECK((uintptr_t)bytes % 256 == 0, "alignment of cudaMalloc");
    CHECK(cudaMalloc(&too_much, (size_t)1 << 50) == cudaErrorMemoryAllocation, "a petabyte");
    CHECK(cudaPeekAtLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaErrorMemoryAllocation &&
              cudaGetLastError() == cudaSuccess, "the last error is kept until it is fetched");

    cudaStream_t stream;
    cudaEvent_t start, end;
    float milliseconds = -1;
    GPU_OK(cudaStreamCreate(&stream));
    GPU_OK(cudaEventCreate(&start));
    GPU_OK(cudaEventCreate(&end));
    GPU_OK(cudaEventRecord(start, stream));
    GPU_OK(cudaMemsetAsync(bytes, 7, 100, stream));
    GPU_OK(cudaMemcpyAsync(pinned, bytes, 100, cudaMemcpyDeviceToHost, stream));
    GPU_OK(cudaEventRecord(end, stream));
    GPU_OK(cudaEventSynchronize(end));
    GPU_OK(cudaStreamSynchronize(stream));
    GPU_OK(cudaEventElapsedTime(&milliseconds, start, end));
    CHECK(pinned[0] == 7 && pinned[99] == 7 && milliseconds >= 0, "work in a stream, %g ms", milliseconds);
    int peer = 1;
    CHECK(cudaDeviceCanAccessPeer(&peer, 0, 0) == cudaSuccess && peer == 0, "a peer");
    GPU_OK(cudaMemsetAsync(bytes, 9, 50, stream));
    GPU_OK(cudaMemcpyPeerAsync(bytes + 50, 0, bytes, 0, 50, stream));
    GPU_OK(cudaMemcpyAsync(pinned, bytes, 100, cudaMemcpyDeviceToHost, stream));
    CHECK(pinned[0] == 9 && pinned[99] == 9, "a copy from device to device");
    CHECK(cudaMemcpyPeerAsync(bytes + 50, 0, bytes, 1, 50, stream) == cudaErrorInvalidDevice &&
              cudaGetLastError() == cudaErrorInvalidDevice, "a copy from a device that is not there");
    GPU_OK(cudaEventDestroy(start));
    GPU_OK(cudaEventDestroy(end));
    GPU_OK(cudaStreamDestroy(stream));
    GPU_OK(cudaFree(bytes));
    GPU_OK(cudaFreeHost(pinned));
    GPU_OK(cudaDeviceSynchronize());
}

/* ---- faults ---------------------------------------------------------------------------------------------------- */

#ifdef SIMT_EMULATOR

#include <sys/wait.h>
#include <unistd.h>

static const unsigned ALL = 0xffffffffu;

GPU_KERNEL void shuffle_outside_mask(int *out)
{
    unsigned lane = simt_lane_id();
    if (lane < 4)
        out[lane] = __shfl_sync(0x0fu, 1, lane == 3 ? 7 : 0);
}
GPU_KERNEL void shuffle_inside_mask(int *out)
{
    unsigned lane = simt_lane_id();
    if (lane < 4)
        out[lane] = __shfl_sync(0x0fu, 1, lane == 3 ? 2 : 0);
}
GPU_KERNEL void shuffle_from_exited(int *out)
{
    unsigned lane = simt_lane_id();
    if (lane == 0)
        return;
    __syncwarp(ALL - 1);
    out[lane] = __shfl_sync(ALL - 1, 1, lane == 1 ? 0 : 1);
}
GPU_KERNEL void shuffle_beyond_block(int *out)
{
    out[threadIdx.x] = __shfl_down_sync(0xffu, 1, 1);
}
GPU_KERNEL void shuffle_up_to_the_end(int *out)
{
    out[threadIdx.x] = __shfl_up_sync(0xffu, 1, 1);
}
GPU_KERNEL void width_of_12(int *out) { out[threadIdx.x] = __shfl_sync(ALL, 1, 0, 12); }
GPU_KERNEL void width_of_0(int *out) { out[threadIdx.x] = __shfl_sync(ALL, 1, 0, 0); }
GPU_KERNEL void width_of_64(int *out) { out[threadIdx.x] = __shfl_sync(ALL, 1, 0, 64); }
GPU_KERNEL void mask_without_caller(int *out) { out[threadIdx.x] = __any_sync(0xfu, 1); }
GPU_KERNEL void mask_of_whole_warp(int *out) { out[threadIdx.x] = __any_sync(ALL, 1); }
GPU_KERNEL void mask_names_exited(int *)
{
    if (simt_lane_id() >= 5)
        return;
    __syncwarp(0x1fu);
    if (simt_lane_id() == 2)
        return;
    __syncwarp(0x1fu);
}
GPU_KERNEL void mask_names_exited_already(int *)
{
    if (simt_lane_id() == 1)
        return;
    __syncwarp(1u << simt_lane_id()); /* lets lane 1 exit first */
    __syncwarp(ALL);
}
GPU_KERNEL void mask_of_those_left(int *)
{
    if (simt_lane_id() < 5)
        __syncwarp(0x1fu);
}
GPU_KERNEL void operations_differ(int *out)
{
    out[threadIdx.x] = simt_lane_id() == 9 ? __any_sync(ALL, 1) : __all_sync(ALL, 1);
}
GPU_KERNEL void sizes_differ(int *out)
{
    out[threadIdx.x] = simt_lane_id() == 9 ? __shfl_sync(ALL, 1, 0) : (int)__shfl_sync(ALL, 1.0, 0);
}
GPU_KERNEL void masks_differ(int *) { __syncwarp(simt_lane_id() < 16 ? ALL : ALL << 8); }
GPU_KERNEL void masks_of_halves(int *) { __syncwarp(simt_lane_id() < 16 ? ~(ALL << 16) : ALL << 16); }
GPU_KERNEL void masks_one_after_another(int *)
{
    unsigned lane = simt_lane_id();
    if (lane == 1 || lane == 2)
        __syncwarp(0x6u);
    if (lane == 0 || lane == 1)
        __syncwarp(0x3u);
}
GPU_KERNEL void barrier_after_exit(int *)
{
    if (threadIdx.x == 40)
        return;
    __syncthreads();
}
GPU_KERNEL void barrier_against_warp(int *)
{
    if (threadIdx.x < 32)
        __syncwarp();
    else if (threadIdx.x == 33)
        __syncwarp();
    else
        __syncthreads();
    __syncthreads();
}
GPU_KERNEL void barriers_differ(int *)
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads_or(1);
}
/* Each barrier is the same one to all threads, wherever in the code it stands. */
GPU_KERNEL void barrier_in_branches(int *)
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
}
/* Lane 0 waits for 1, that for 2, and that for 0. */
GPU_KERNEL void circle(int *)
{
    const unsigned masks[] = {0x3u, 0x6u, 0x5u};
    if (simt_lane_id() < 3)
        __syncwarp(masks[simt_lane_id()]);
}

/* The same of barriers with a count. */
GPU_KERNEL void named_barriers(int *out)
{
    __shared__ int values[96];
    values[threadIdx.x] = (int)threadIdx.x;
    if (threadIdx.x < 32)
        simt_barrier(1, 96);
    else
        simt_barrier(1, 96);
    out[threadIdx.x] = values[95 - threadIdx.x];
    simt_barrier(0, 96);
    values[threadIdx.x] = 0;
    __syncthreads();
}
GPU_KERNEL void named_barrier_is_syncthreads(int *out)
{
    __shared__ int values[80];
    values[threadIdx.x] = (int)threadIdx.x;
    if (threadIdx.x < 32)
        __syncthreads();
    else
        simt_barrier(0, 96);
    out[threadIdx.x] = values[79 - threadIdx.x];
}
/* Two halves meet for themselves and then together, each for another number of times. */
GPU_KERNEL void barriers_of_halves(int *out)
{
    __shared__ int values[128];
    unsigned half = threadIdx.x / 64;
    for (unsigned i = 0; i < 2 + half; i++) {
        values[threadIdx.x] = (int)i;
        simt_barrier(2 + (int)half, 64);
        out[threadIdx.x] = values[threadIdx.x ^ 63];
        simt_barrier(2 + (int)half, 64);
    }
    __syncthreads();
}
GPU_KERNEL void counts_differ(int *) { simt_barrier(1, threadIdx.x < 32 ? 64 : 96); }
GPU_KERNEL void count_too_small(int *) { simt_barrier(1, 64); }
GPU_KERNEL void count_too_large(int *) { simt_barrier(1, 128); }
GPU_KERNEL void count_of_no_warps(int *) { simt_barrier(1, 40); }
GPU_KERNEL void count_never_reached(int *)
{
    if (threadIdx.x < 32)
        simt_barrier(1, 64);
}
GPU_KERNEL void barrier_16(int *) { simt_barrier(16, 32); }
GPU_KERNEL void barriers_of_two_numbers(int *) { simt_barrier(threadIdx.x < 32 ? 1 : 2, 64); }

/* ---- asynchronous copies */

/* Each thread copies two values in two groups, and waits for the first, then for both. */
GPU_KERNEL void copies_in_groups(int *out)
{
    __shared__ __align__(16) int values[64];
    int *mine = values + 2 * threadIdx.x;
    out[256 + 2 * threadIdx.x] = (int)threadIdx.x + 1;
    out[257 + 2 * threadIdx.x] = (int)threadIdx.x + 101;
    simt_copy_async(&mine[0], &out[256 + 2 * threadIdx.x], 4);
    simt_copy_commit();
    simt_copy_async(&mine[1], &out[257 + 2 * threadIdx.x], 4);
    simt_copy_commit();
    simt_copy_await(1);
    out[threadIdx.x] = mine[0];
    simt_copy_await(0);
    out[32 + threadIdx.x] = mine[1];
    __syncwarp();
    out[64 + threadIdx.x] = values[63 - 2 * threadIdx.x];
}
/* What is read of a copy's place before it has arrived, or though it was committed in no group; -1 is the poison. */
GPU_KERNEL void copies_awaited_too_late(int *out)
{
    __shared__ int values[32];
    int *mine = values + threadIdx.x;
    out[256 + threadIdx.x] = 5;
    *mine = 3;
    if (!SIMT_WATCHED) {
        simt_copy_async(mine, &out[256 + threadIdx.x], 4);
        out[threadIdx.x] = *mine;
        simt_copy_await(0);
        out[32 + threadIdx.x] = *mine;
        simt_copy_commit();
        simt_copy_await(1);
        out[64 + threadIdx.x] = *mine;
        out[256 + threadIdx.x] = 6; /* still to be copied, hence copied as it is now */
        simt_copy_await(0);
        out[96 + threadIdx.x] = *mine;
    }
}
GPU_KERNEL void copy_of_12_bytes(int *out)
{
    __shared__ __align__(16) int values[4];
    simt_copy_async(values, out, 12);
}
GPU_KERNEL void copy_misaligned(int *out)
{
    __shared__ __align__(16) int values[8];
    simt_copy_async(values + 4, out + 1, 16);
}
GPU_KERNEL void copy_to_global(int *out) { simt_copy_async(out, out + 32, 16); }
GPU_KERNEL void copy_within_shared(int *)
{
    __shared__ __align__(16) int values[8];
    values[0] = values[1] = values[2] = values[3] = 0;
    simt_copy_async(values + 4, values, 16);
}

/* ---- clusters */

/* Each block sends a number to all, time after time, through two boxes in turn; MISSING leaves one thing out. */
enum { NOTHING, SYNC, OPEN, AWAIT, TURNS, LAST_AWAIT, EXPECT, ONE_EXPECT, SEND };
template <int MISSING> __device__ static void exchange(int *out)
{
    __shared__ unsigned long long boxes[2];
    __shared__ __align__(16) int values[2][16][4];
    int rank = simt_cluster_rank(), size = simt_cluster_size(), thread = (int)threadIdx.x;
    unsigned sum = (unsigned)rank + 1;
    if (thread < 2 && !(MISSING == OPEN && thread == 1))
        simt_cluster_open(&boxes[thread]);
    if (MISSING != SYNC)
        simt_cluster_sync();
    for (int i = 0; i < 6; i++) {
        int turn = MISSING == TURNS ? 0 : i % 2, odd = MISSING == TURNS ? i % 2 : i / 2 % 2;
        int message[4] = {(int)sum, 0, 0, i};
        if (thread == 0 && !(MISSING == EXPECT && i == 3))
            simt_cluster_expect(&boxes[turn], 16 * size + (MISSING == ONE_EXPECT && i == 3 ? 16 : 0));
        for (int q = thread; q < size; q += (int)blockDim.x)
            if (!(MISSING == SEND && i == 5 && rank == 0))
                simt_cluster_send(values[turn][rank], q, &boxes[turn], message);
        if (MISSING == LAST_AWAIT && i == 5 && rank == 0)
            return;
        if (MISSING != AWAIT || thread == 0)
            simt_cluster_await(&boxes[turn], odd);
        if (MISSING == AWAIT)
            __syncthreads();
        for (int q = 0; q < size; q++)
            sum = 3 * sum + (unsigned)values[turn][q][0];
        __syncthreads(); /* nothing is sent before all have read */
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = (int)sum;
}
GPU_KERNEL void cluster_exchange(int *out) { exchange<NOTHING>(out); }
GPU_KERNEL void cluster_without_sync(int *out) { exchange<SYNC>(out); }
GPU_KERNEL void cluster_box_not_opened(int *out) { exchange<OPEN>(out); }
GPU_KERNEL void cluster_await_of_one(int *out) { exchange<AWAIT>(out); }
GPU_KERNEL void cluster_one_box(int *out) { exchange<TURNS>(out); }
GPU_KERNEL void cluster_left_too_early(int *out) { exchange<LAST_AWAIT>(out); }
GPU_KERNEL void cluster_nothing_expected(int *out) { exchange<EXPECT>(out); }
GPU_KERNEL void cluster_too_much_expected(int *out) { exchange<ONE_EXPECT>(out); }
GPU_KERNEL void cluster_nothing_sent(int *out) { exchange<SEND>(out); }

/* Each block has shared memory of its own, which keeps its values while others run. */
GPU_KERNEL void cluster_own_memory(int *out)
{
    GPU_DYNAMIC_SHARED(bytes);
    __shared__ int fixed[32];
    int *dynamic = (int *)bytes, mine = (int)(100 * blockIdx.x + threadIdx.x);
    fixed[threadIdx.x] = mine;
    dynamic[threadIdx.x] = -mine;
    simt_cluster_sync();
    int got = fixed[31 - threadIdx.x] - dynamic[31 - threadIdx.x]; /* a barrier of the block, too */
    simt_cluster_sync();
    fixed[threadIdx.x] = got;
    out[blockIdx.x * blockDim.x + threadIdx.x] = fixed[threadIdx.x];
}
/* Who has exited need not come to the cluster's barrier. */
GPU_KERNEL void cluster_exited(int *)
{
    if (blockIdx.x == 1 || threadIdx.x >= 32)
        return;
    simt_cluster_sync();
}
GPU_KERNEL void cluster_barrier_not_reached(int *)
{
    if (blockIdx.x == 1 && threadIdx.x < 32)
        __syncthreads();
    else
        simt_cluster_sync();
}
GPU_KERNEL void cluster_open_twice(int *)
{
    __shared__ unsigned long long box;
    simt_cluster_open(&box);
}
GPU_KERNEL void cluster_expect_twice(int *)
{
    __shared__ unsigned long long box;
    simt_cluster_open(&box);
    simt_cluster_expect(&box, 16);
    simt_cluster_expect(&box, 16);
}
GPU_KERNEL void cluster_expect_8_bytes(int *)
{
    __shared__ unsigned long long box;
    simt_cluster_open(&box);
    simt_cluster_expect(&box, 8);
}
/* One thread a block; what it sends where, and how much of it is expected. */
template <int RANK, int SHIFT, int TIMES> __device__ static void send_somewhere(int *out)
{
    __shared__ unsigned long long box;
    __shared__ __align__(16) int values[8];
    const int message[4] = {1, 2, 3, 4};
    simt_cluster_open(&box);
    simt_cluster_expect(&box, 32);
    simt_cluster_sync();
    for (int i = 0; i < TIMES && blockIdx.x == 0; i++)
        simt_cluster_send(SHIFT < 0 ? out : values + SHIFT, RANK, &box, message);
    simt_cluster_sync();
}
GPU_KERNEL void cluster_send_beyond(int *out) { send_somewhere<2, 0, 1>(out); }
GPU_KERNEL void cluster_send_misaligned(int *out) { send_somewhere<1, 1, 1>(out); }
GPU_KERNEL void cluster_send_to_global(int *out) { send_somewhere<1, -1, 1>(out); }
GPU_KERNEL void cluster_send_too_much(int *out) { send_somewhere<1, 0, 3>(out); }
GPU_KERNEL void cluster_send_too_little(int *out) { send_somewhere<1, 0, 1>(out); }
GPU_KERNEL void cluster_send_enough(int *out) { send_somewhere<1, 0, 2>(out); }
GPU_KERNEL void cluster_send_to_exited(int *out)
{
    __shared__ unsigned long long box;
    __shared__ __align__(16) int values[4];
    simt_cluster_open(&box);
    simt_cluster_sync();
    if (blockIdx.x == 1)
        return;
    simt_cluster_sync(); /* by now the other block is gone */
    simt_cluster_send(values, 1, &box, out);
}
/* Each block reads and writes what another one has; the place is the same in all. */
template <int RANK, int SYNCS, int PLACE>
static void map_somewhere(int *out)
{
    __shared__ int values[2];
    int rank = simt_cluster_rank(), size = simt_cluster_size(), next = RANK < 0 ? (rank + 1) % size : RANK;
    values[0] = 10 * (rank + 1);
    if (SYNCS > 0)
        simt_cluster_sync();
    int *there = (int *)simt_cluster_map(PLACE ? out : values, next);
    there[1] = there[0] + rank;
    simt_cluster_sync();
    out[blockIdx.x] = values[1];
}
GPU_KERNEL void cluster_map_next(int *out) { map_somewhere<-1, 1, 0>(out); }
GPU_KERNEL void cluster_map_beyond(int *out) { map_somewhere<2, 1, 0>(out); }
GPU_KERNEL void cluster_map_too_early(int *out) { map_somewhere<-1, 0, 0>(out); }
GPU_KERNEL void cluster_map_global(int *out) { map_somewhere<-1, 1, 1>(out); }
GPU_KERNEL void cluster_map_exited(int *)
{
    __shared__ int value;
    simt_cluster_sync();
    if (blockIdx.x == 1)
        return;
    simt_cluster_sync(); /* by now the other block is gone */
    simt_cluster_map(&value, 1);
}
/* What has been sent is not there before it has been awaited, whoever else has awaited it. */
GPU_KERNEL void cluster_read_too_early(int *out)
{
    __shared__ unsigned long long box;
    __shared__ __align__(16) int values[4];
    const int message[4] = {1, 2, 3, 4};
    if (threadIdx.x == 0)
        simt_cluster_open(&box);
    simt_cluster_sync();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        simt_cluster_send(values, 1, &box, message);
    simt_cluster_sync();
    if (blockIdx.x == 1) {
        out[threadIdx.x] = values[0];
        __syncthreads();
        if (threadIdx.x == 0)
            simt_cluster_expect(&box, 16);
        simt_cluster_await(&box, 0);
        out[64 + threadIdx.x] = values[threadIdx.x % 4];
    }
}
/* The blocks of a cluster are no more ordered in global memory than others, as far as the watch can tell. */
GPU_KERNEL void cluster_global_race(int *out)
{
    if (blockIdx.x == 0)
        out[threadIdx.x] = 1;
    simt_cluster_sync();
    if (blockIdx.x == 1)
        out[32 + threadIdx.x] = out[threadIdx.x];
}
GPU_KERNEL void cluster_shared_race(int *out)
{
    __shared__ int values[64];
    values[threadIdx.x] = 1;
    simt_cluster_sync();
    out[64 * blockIdx.x + threadIdx.x] = values[threadIdx.x ^ 32];
    if (blockIdx.x == 1)
        values[threadIdx.x] = 2;
}

struct plan {
    const char *name;
    void (*kernel)(int *);
    int threads;
    const char *fault; /* a part of its text; NULL: the kernel is correct */
    int blocks = 1;
    bool is_early = false;
    int cluster = 1;
};

static const plan plans[] = {
    {"shuffle outside mask", shuffle_outside_mask, 32,
     "shuffle reads lane 7, which is outside mask 0x0000000f"},
    {"shuffle inside mask", shuffle_inside_mask, 32, NULL},
    {"shuffle from exited lane", shuffle_from_exited, 32,
     "which is outside mask 0xfffffffe and has exited, block (0,0,0) thread (1,0,0)"},
    {"shuffle beyond block", shuffle_beyond_block, 8, "shuffle reads lane 8, which is beyond the block"},
    {"shuffle up in part of a warp", shuffle_up_to_the_end, 8, NULL},
    {"width 12", width_of_12, 32, "shuffle of width 12, which is not a power of two"},
    {"width 0", width_of_0, 32, "shuffle of width 0,"},
    {"width 64", width_of_64, 32, "shuffle of width 64,"},
    {"mask without caller", mask_without_caller, 32, "which is not in its own mask 0x0000000f"},
    {"mask beyond block", mask_of_whole_warp, 40, "names lane 8 beyond the block"},
    {"mask of whole warps", mask_of_whole_warp, 64, NULL},
    {"mask names exited lane", mask_names_exited, 32, "lane 2, which has exited"},
    {"mask names a lane gone before", mask_names_exited_already, 32, "lane 1, which has exited"},
    {"mask of those left", mask_of_those_left, 32, NULL},
    {"operations differ", operations_differ, 32, "different operations: lane "},
    {"sizes differ", sizes_differ, 32, "__shfl_sync of 8 bytes"},
    {"masks differ", masks_differ, 32, "with different masks: lane "},
    {"masks of halves", masks_of_halves, 32, NULL},
    {"masks one after another", masks_one_after_another, 32, NULL},
    {"barrier after exit", barrier_after_exit, 64,
     "barrier not reached by all: 63 of 64 threads wait at __syncthreads, thread (40,0,0) has exited"},
    {"barrier and syncwarp", barrier_against_warp, 64, "thread (33,0,0) waits at __syncwarp"},
    {"barriers differ", barriers_differ, 64, "different operations: __syncthreads"},
    {"barrier in branches", barrier_in_branches, 64, NULL},
    {"circle", circle, 32, "deadlock: lane "},
    {"named barriers", named_barriers, 96, NULL},
    {"barrier 0 is __syncthreads", named_barrier_is_syncthreads, 80, NULL},
    {"barriers of halves", barriers_of_halves, 128, NULL},
    {"counts differ", counts_differ, 96, "barrier 1 with different counts: 64 and 96"},
    {"count too small", count_too_small, 96, "barrier 1 of 64 threads is met by others than before"},
    {"count too small, twice", count_too_small, 128, "barrier 1 of 64 threads is met by others than before"},
    {"count larger than the block", count_too_large, 96,
     "barrier 1 of 128 threads, which are no warps of a block of 96"},
    {"count of no warps", count_of_no_warps, 96, "barrier 1 of 40 threads"},
    {"count never reached", count_never_reached, 64, "32 of 64 threads wait at barrier.sync"},
    {"barrier 16", barrier_16, 32, "barrier 16, of 16"},
    {"barriers of two numbers", barriers_of_two_numbers, 64, "32 of 64 threads wait at barrier.sync, thread (32,0,0)"},
    {"copies in groups", copies_in_groups, 32, NULL},
    {"copy of 12 bytes", copy_of_12_bytes, 1, "asynchronous copy of 12 bytes"},
    {"copy misaligned", copy_misaligned, 1, "asynchronous copy of 16 bytes to or from an address that is not aligned"},
    {"copy to global memory", copy_to_global, 1, "not from global to shared memory"},
    {"copy within shared memory", copy_within_shared, 1, "not from global to shared memory"},
    {"cluster", cluster_exchange, 64, NULL, 6, false, 3},
    {"cluster of one block", cluster_exchange, 64, NULL, 2, false, 1},
    {"cluster of 16", cluster_exchange, 40, NULL, 16, false, 16},
    {"cluster, own memory", cluster_own_memory, 32, NULL, 8, false, 4},
    {"cluster, no barrier before sending", cluster_without_sync, 32, "box", 2, false, 2},
    {"cluster, box not opened", cluster_box_not_opened, 32, "box that was not opened expects", 2, false, 2},
    {"cluster, one box for all times", cluster_one_box, 32, NULL, 1, false, 1},
    {"cluster, block that leaves too early", cluster_left_too_early, 32, "way to it", 2, false, 2},
    {"cluster, nothing expected", cluster_nothing_expected, 32, "a box is never full: ", 2, false, 2},
    {"cluster, too much expected", cluster_too_much_expected, 32, "a box is never full: 32 bytes came, 48", 2, false,
     2},
    {"cluster, nothing sent", cluster_nothing_sent, 32, "a box is never full: 16 bytes came, 32", 2, false, 2},
    {"cluster, exited threads", cluster_exited, 64, NULL, 4, false, 2},
    {"cluster, barrier not reached", cluster_barrier_not_reached, 64, "thread (32,0,0) waits at barrier.cluster", 2,
     false, 2},
    {"box opened twice", cluster_open_twice, 2, "opened before"},
    {"box expects twice", cluster_expect_twice, 1, "expects the next bytes before it is full"},
    {"box expects 8 bytes", cluster_expect_8_bytes, 1, "a box expects 8 bytes"},
    {"sent to a block beyond", cluster_send_beyond, 1, "sent to block 2 of a cluster of 2", 2, false, 2},
    {"sent misaligned", cluster_send_misaligned, 1, "not 16 bytes of shared memory", 2, false, 2},
    {"sent to global memory", cluster_send_to_global, 1, "not 16 bytes of shared memory", 2, false, 2},
    {"sent too much", cluster_send_too_much, 1, "ends with 16 bytes on their way", 2, false, 2},
    {"sent too little", cluster_send_too_little, 1, "ends with 16 bytes on their way", 2, false, 2},
    {"sent enough", cluster_send_enough, 1, NULL, 2, false, 2},
    {"sent to a block that has ended", cluster_send_to_exited, 1, "block 1 of the cluster, which has ended", 2, false,
     2},
    {"mapped to the next block", cluster_map_next, 1, NULL, 2, false, 2},
    {"mapped to a block beyond", cluster_map_beyond, 1, "shared memory of block 2 of a cluster of 2", 2, false, 2},
    {"mapped before a barrier", cluster_map_too_early, 1, "before a barrier of the cluster", 2, false, 2},
    {"mapped, global memory", cluster_map_global, 1, "mapped to another block is not shared memory", 2, false, 2},
    {"mapped to a block that has ended", cluster_map_exited, 1, "of the cluster, which has ended", 2, false, 2},
};

/* ---- faults that only the watched build sees ------------------------------------------------------------------- */

GPU_KERNEL void read_before_write(int *out)
{
    __shared__ int values[32];
    if (threadIdx.x == 1)
        values[0] = 1;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x / 16];
}
GPU_KERNEL void read_of_never_written(int *out)
{
    __shared__ int never[32];
    out[threadIdx.x] = never[threadIdx.x];
}
GPU_KERNEL void read_of_last_launch(int *out)
{
    GPU_DYNAMIC_SHARED(bytes);
    int *values = (int *)bytes;
    if (blockIdx.x == 0)
        values[threadIdx.x] = 1;
    out[32 * blockIdx.x + threadIdx.x] = values[threadIdx.x];
}
GPU_KERNEL void read_beyond_dynamic(int *out)
{
    GPU_DYNAMIC_SHARED(bytes);
    if (threadIdx.x == 3) /* in the watched build only: the address sanitizer would stop the program */
        bytes[SIMT_WATCHED ? 128 : 0] = 1;
    out[threadIdx.x] = 0;
}
GPU_KERNEL void write_between_arrays(int *out)
{
    __shared__ char values[33]; /* all others of this program are aligned to more than a byte */
    char *first = values;
    first[SIMT_WATCHED ? 33 : 0] = 1;
    out[threadIdx.x] = 0;
}
GPU_KERNEL void race_write_read(int *out)
{
    __shared__ int values[64];
    values[threadIdx.x] = 1;
    if (threadIdx.x < 63)
        out[threadIdx.x] = values[threadIdx.x ? threadIdx.x - 1 : 0];
}
GPU_KERNEL void race_read_write(int *out)
{
    __shared__ int values[64];
    values[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];
    if (threadIdx.x == 31)
        values[5] = 2;
}
GPU_KERNEL void race_many_readers(int *out)
{
    __shared__ int value;
    if (threadIdx.x == 0)
        value = 1;
    __syncthreads();
    if (threadIdx.x != 0)
        out[threadIdx.x] = value;
    __syncwarp();
    if (threadIdx.x == 0)
        value = 2;
}
GPU_KERNEL void race_same_value(int *)
{
    __shared__ int flag;
    flag = 1;
}
GPU_KERNEL void race_despite_shuffle(int *out)
{
    __shared__ int values[32];
    unsigned lane = simt_lane_id();
    values[lane] = 1;
    __shfl_sync(ALL, 1, 0);
    out[lane] = values[lane ^ 1];
}
GPU_KERNEL void race_despite_fence(int *out)
{
    __shared__ int values[32];
    unsigned lane = simt_lane_id();
    values[lane] = 1;
    __threadfence_block();
    out[lane] = values[lane ^ 1];
}
/* Lanes 0 and 1 meet, 2 and 3 meet: that orders nothing between 1 and 2. */
GPU_KERNEL void race_despite_other_syncwarp(int *out)
{
    __shared__ int values[4];
    unsigned lane = simt_lane_id();
    if (lane >= 4)
        return;
    values[lane] = 1;
    __syncwarp(lane < 2 ? 0x3u : 0xcu);
    out[lane] = values[3 - lane];
}
GPU_KERNEL void race_with_atomic(int *out)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    if (threadIdx.x == 31 || threadIdx.x == 0)
        out[threadIdx.x] = count;
}
/* The compiler writes both halves of a vector at once. */
GPU_KERNEL void race_inside_vector(int *out)
{
    __shared__ float4 vectors[32];
    vectors[threadIdx.x] = make_float4(1, 2, 3, 4);
    out[threadIdx.x] = (int)vectors[(threadIdx.x + 1) % 32].w;
}

GPU_KERNEL void ordered_by_barrier(int *out)
{
    __shared__ int values[64];
    for (int i = 0; i < 3; i++) {
        values[threadIdx.x] = i;
        __syncthreads();
        out[threadIdx.x] = values[63 - threadIdx.x];
        __syncthreads();
    }
}
GPU_KERNEL void ordered_by_syncwarp(int *out)
{
    __shared__ int values[64];
    for (int i = 0; i < 3; i++) {
        values[threadIdx.x] = i;
        __syncwarp();
        out[threadIdx.x] = values[threadIdx.x ^ 31];
        __syncwarp();
    }
}
/* Lane 0 before 1 before 2, by two meetings of two. */
GPU_KERNEL void ordered_by_chain(int *out)
{
    __shared__ int value;
    unsigned lane = simt_lane_id();
    if (lane == 0)
        value = 1;
    if (lane <= 1)
        __syncwarp(0x3u);
    if (lane == 1 || lane == 2)
        __syncwarp(0x6u);
    if (lane == 2)
        out[0] = value++;
}
GPU_KERNEL void bytes_side_by_side(int *out)
{
    __shared__ unsigned char bytes[64];
    bytes[threadIdx.x] = 1;
    out[threadIdx.x] = bytes[threadIdx.x];
}
GPU_KERNEL void bytes_of_words(int *out)
{
    __shared__ __align__(4) unsigned char bytes[64];
    if (threadIdx.x < 16)
        ((int *)bytes)[threadIdx.x] = 0x01010101;
    __syncthreads();
    bytes[threadIdx.x]++;
    __syncthreads();
    out[threadIdx.x] = ((int *)bytes)[threadIdx.x / 4];
}
GPU_KERNEL void byte_of_a_word(int *out)
{
    __shared__ __align__(4) unsigned char bytes[4];
    if (threadIdx.x == 0)
        *(int *)bytes = 1;
    if (threadIdx.x == 33)
        out[0] = bytes[2];
}
GPU_KERNEL void word_of_bytes(int *out)
{
    __shared__ __align__(4) unsigned char bytes[4];
    if (threadIdx.x < 4)
        bytes[threadIdx.x] = 1;
    if (threadIdx.x == 33)
        out[0] = *(int *)bytes;
}
GPU_KERNEL void atomics_alone(int *out)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    out[threadIdx.x] = count;
}

/* ---- asynchronous copies */

GPU_KERNEL void copy_read_too_early(int *out)
{
    __shared__ int values[32];
    simt_copy_async(&values[threadIdx.x], &out[256 + threadIdx.x], 4);
    simt_copy_commit();
    out[threadIdx.x] = values[threadIdx.x];
}
GPU_KERNEL void copy_group_too_late(int *out)
{
    __shared__ int values[2][32];
    for (int i = 0; i < 2; i++) {
        simt_copy_async(&values[i][threadIdx.x], &out[256 + threadIdx.x], 4);
        simt_copy_commit();
    }
    simt_copy_await(1);
    out[threadIdx.x] = values[0][threadIdx.x];
    out[threadIdx.x] = values[1][threadIdx.x];
}
GPU_KERNEL void copy_written_meanwhile(int *out)
{
    __shared__ int values[32];
    simt_copy_async(&values[threadIdx.x], &out[256 + threadIdx.x], 4);
    simt_copy_commit();
    values[threadIdx.x] = 0;
    simt_copy_await(0);
}
/* Each thread waits for its own copies, and nobody for the others': a barrier before the wait is none after it. (The
   warp that comes last to a barrier goes on first.) */
GPU_KERNEL void copy_without_barrier(int *out)
{
    __shared__ int values[64];
    if (threadIdx.x >= 32)
        simt_copy_async(&values[threadIdx.x], &out[256 + threadIdx.x], 4);
    simt_copy_commit();
    __syncthreads();
    simt_copy_await(0);
    if (threadIdx.x < 32)
        out[threadIdx.x] = values[threadIdx.x + 32];
}
GPU_KERNEL void copy_with_barrier(int *out)
{
    __shared__ int values[64];
    simt_copy_async(&values[threadIdx.x], &out[256 + threadIdx.x], 4);
    simt_copy_commit();
    simt_copy_await(0);
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x ^ 32];
}
/* A copy begins while another thread may still read what was there. */
GPU_KERNEL void copy_over_readers(int *out)
{
    __shared__ int values[64];
    values[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x >= 32)
        out[threadIdx.x] = values[threadIdx.x - 32];
    else
        simt_copy_async(&values[threadIdx.x], &out[256 + threadIdx.x], 4);
    simt_copy_commit();
    __syncthreads();
    simt_copy_await(0);
}

/* ---- global memory */

GPU_KERNEL void global_write_write(int *out) { out[threadIdx.x / 2] = 1; }
GPU_KERNEL void global_write_read(int *out)
{
    out[threadIdx.x] = 1;
    out[64 + threadIdx.x] = out[threadIdx.x ^ 32];
}
GPU_KERNEL void global_read_write(int *out)
{
    int old = out[threadIdx.x ^ 32];
    out[threadIdx.x] = old;
}
GPU_KERNEL void global_with_barrier(int *out)
{
    int old = out[threadIdx.x ^ 32];
    __syncthreads();
    out[threadIdx.x] = old;
    __syncthreads();
    out[threadIdx.x ^ 32] = 2;
}
GPU_KERNEL void global_with_syncwarp(int *out)
{
    int old = out[threadIdx.x ^ 1];
    __syncwarp();
    out[threadIdx.x] = old;
}
GPU_KERNEL void global_of_blocks(int *out)
{
    out[blockIdx.x] = out[1023];
    if (blockIdx.x == 1)
        out[1023] = 1;
}
GPU_KERNEL void global_of_blocks_written_first(int *out)
{
    if (blockIdx.x == 0)
        out[0] = 1;
    else
        out[1] = out[0];
}
GPU_KERNEL void global_of_each_block(int *out) { out[blockIdx.x] += out[2]; }
GPU_KERNEL void global_atomics(int *out)
{
    atomicAdd(&out[0], 1);
    atomicMax(&out[1], (int)threadIdx.x);
}
GPU_KERNEL void global_atomic_and_write(int *out)
{
    if (blockIdx.x == 0)
        atomicAdd(&out[0], 1);
    else
        out[0] = 1;
}

GPU_KERNEL void global_beyond(int *out) { out[1024] = 1; }
GPU_KERNEL void global_at_the_end(int *out) { out[1023] = 1; }
GPU_KERNEL void global_before(int *out) { out[1022] = out[-1]; }

/* ---- aligned accesses */

template <class type, int skipped> GPU_KERNEL void global_misaligned(int *out)
{
    type *place = (type *)((char *)out + 64 + skipped);
    *place = *(type *)((char *)out + 128);
}
template <class type, int skipped> GPU_KERNEL void global_misaligned_read(int *out)
{
    type value = *(const type *)((const char *)out + 64 + skipped);
    *(type *)((char *)out + 128) = value;
}
/* As the kit loads: its elements go their own ways. */
template <int skipped> GPU_KERNEL void vector_in_parts(int *out)
{
    float4 v = __ldcs((const float4 *)(out + skipped));
    out[0] = (int)(v.x + v.y);
    out[9] = (int)(v.z - v.w);
}
template <class type, int skipped> GPU_KERNEL void shared_misaligned(int *out)
{
    __shared__ __align__(16) unsigned char bytes[64];
    bytes[2 * threadIdx.x] = bytes[2 * threadIdx.x + 1] = 1;
    __syncthreads();
    if (threadIdx.x == 0) *(type *)out = *(const type *)(bytes + skipped);
}
GPU_KERNEL void misaligned_atomic(int *out) { atomicAdd((int *)((char *)out + 2), 1); }
/* Byte by byte. */
GPU_KERNEL void misaligned_copy(int *out)
{
    int value;
    memcpy(&value, (const char *)out + 1, sizeof value);
    out[8] = value;
}

/* ---- how much shared memory there is */

__device__ static int use_30_KiB(int i)
{
    __shared__ int values[30 * 256];
    values[i] = i;
    return values[i];
}
GPU_KERNEL void static_56_KiB(int *out)
{
    __shared__ int values[26 * 256];
    values[threadIdx.x] = 1;
    out[threadIdx.x] = values[threadIdx.x] + use_30_KiB((int)threadIdx.x);
}
/* The launch asks for 128 bytes. */
GPU_KERNEL void static_48_KiB(int *out)
{
    __shared__ int values[48 * 256];
    values[threadIdx.x] = 1;
    out[threadIdx.x] = values[threadIdx.x];
}
GPU_KERNEL void static_30_KiB(int *out) { out[threadIdx.x] = use_30_KiB((int)threadIdx.x); }

/* ---- early launches */

GPU_KERNEL void early_without_wait(int *out) { out[threadIdx.x] = 1; }
GPU_KERNEL void early_read_before_wait(int *out)
{
    int old = out[threadIdx.x];
    simt_grid_wait();
    out[threadIdx.x] = old + 1;
}
/* One thread's waiting does not do for another one. */
GPU_KERNEL void early_wait_of_one(int *out)
{
    if (threadIdx.x == 0)
        simt_grid_wait();
    __syncthreads();
    out[threadIdx.x] = 1;
}
GPU_KERNEL void early_with_wait(int *out)
{
    __shared__ int values[32];
    values[threadIdx.x] = (int)threadIdx.x;
    simt_grid_wait();
    simt_grid_launch_dependents();
    out[32 * blockIdx.x + threadIdx.x] += values[threadIdx.x];
}

static const plan watched_plans[] = {
    {"read before write", read_before_write, 32, "shared memory read before it was written, byte "},
    {"read of never written", read_of_never_written, 32, "shared memory read before it was written, byte "},
    {"read of what another block wrote", read_of_last_launch, 32, "before it was written, byte 0 of dynamic", 2},
    {"read beyond dynamic", read_beyond_dynamic, 32,
     "byte 128 of dynamic shared memory, of which the launch asked for"},
    {"write between arrays", write_between_arrays, 1, " of static shared memory, which is in no array"},
    {"byte of a word", byte_of_a_word, 64, "race on shared memory, byte "},
    {"word of bytes", word_of_bytes, 64, "race on shared memory, byte "},
    {"write, read", race_write_read, 64, "race on shared memory, byte "},
    {"read, write", race_read_write, 32, "read by thread (5,0,0), write by thread (31,0,0)"},
    {"many readers", race_many_readers, 96, "write by thread (0,0,0), block"},
    {"same value", race_same_value, 64, "write by thread (0,0,0), write by thread (1,0,0)"},
    {"shuffle orders nothing", race_despite_shuffle, 32, "race on shared memory, byte "},
    {"fence orders nothing", race_despite_fence, 32, "shared memory"},
    {"other syncwarp", race_despite_other_syncwarp, 32, "race on shared memory, byte "},
    {"atomic and read", race_with_atomic, 32, "race on shared memory, byte "},
    {"inside a vector", race_inside_vector, 32, "shared memory"},
    {"ordered by barrier", ordered_by_barrier, 64, NULL},
    {"ordered by syncwarp", ordered_by_syncwarp, 64, NULL},
    {"ordered by chain", ordered_by_chain, 32, NULL},
    {"bytes side by side", bytes_side_by_side, 64, NULL},
    {"bytes of words", bytes_of_words, 64, NULL},
    {"atomics alone", atomics_alone, 64, NULL},
    {"copy read too early", copy_read_too_early, 32, "read of shared memory with a copy under way"},
    {"copy awaited one group late", copy_group_too_late, 32, "read of shared memory with a copy under way"},
    {"copy written meanwhile", copy_written_meanwhile, 32, "write of shared memory with a copy under way"},
    {"copy without barrier", copy_without_barrier, 64, "race on shared memory, byte "},
    {"copy with barrier", copy_with_barrier, 64, NULL},
    {"copy over readers", copy_over_readers, 64, "race on shared memory, byte "},
    {"global write, write", global_write_write, 64,
     "race on global memory: write by thread (0,0,0), write by thread (1"},
    {"global write, read", global_write_read, 64,
     "race on global memory: read by thread (0,0,0), write by thread (32"},
    {"global read, write", global_read_write, 64,
     "race on global memory: write by thread (0,0,0), read by thread (32"},
    {"global with barrier", global_with_barrier, 64, NULL},
    {"global with syncwarp", global_with_syncwarp, 64, NULL},
    {"global of blocks, read, write", global_of_blocks, 1, "race on global memory: read by another block, write", 2},
    {"global of blocks, write, read", global_of_blocks_written_first, 1, "write by another block, read by thread", 2},
    {"global of each block", global_of_each_block, 1, NULL, 2},
    {"global atomics", global_atomics, 64, NULL, 2},
    {"global atomic and write", global_atomic_and_write, 1, "write by another block, write by thread (0,0,0)", 2},
    {"global, beyond", global_beyond, 1, "write of global memory that cudaMalloc has not given"},
    {"global, at the end", global_at_the_end, 1, NULL},
    {"global, before", global_before, 1, "read of global memory that cudaMalloc has not given"},
    {"misaligned write of 2", global_misaligned<short, 1>, 1, "misaligned address: write of 2 bytes of global memory"},
    {"misaligned read of 4", global_misaligned_read<int, 2>, 1, "misaligned address: read of 4 bytes of global memory"},
    {"misaligned write of 8", global_misaligned<double, 4>, 1, "misaligned address: write of 8 bytes of global memory"},
    {"misaligned read of 8", global_misaligned_read<float2, 4>, 1, "misaligned address: read of 8 bytes"},
    {"misaligned write of 16", global_misaligned<float4, 8>, 1, "misaligned address: write of 16 bytes"},
    {"misaligned read of 16", global_misaligned_read<double2, 8>, 1, "misaligned address: read of 16 bytes"},
    {"aligned to 16", global_misaligned<double2, 16>, 1, NULL},
    {"aligned to 2", global_misaligned<short, 2>, 1, NULL},
    {"misaligned vector in parts", vector_in_parts<2>, 1, "misaligned address: read of 16 bytes"},
    {"vector in parts", vector_in_parts<4>, 1, NULL},
    {"misaligned in shared memory", shared_misaligned<double2, 8>, 32, "read of 16 bytes of shared memory, 8 beyond"},
    {"aligned in shared memory", shared_misaligned<double2, 16>, 32, NULL},
    {"misaligned atomic", misaligned_atomic, 1, "misaligned address: write of 4 bytes"},
    {"copy of bytes", misaligned_copy, 1, NULL},
    {"56 KiB in two arrays", static_56_KiB, 32, "bytes of static shared memory in one kernel"},
    {"48 KiB and more at the launch", static_48_KiB, 32, "49152 bytes of static shared memory with 128 of dynamic"},
    {"30 KiB", static_30_KiB, 32, NULL},
    {"early without wait", early_without_wait, 32, "write of global memory before simt_grid_wait", 1, true},
    {"not early without wait", early_without_wait, 32, NULL},
    {"early read before wait", early_read_before_wait, 32, "read of global memory before simt_grid_wait", 1, true},
    {"early wait of one thread", early_wait_of_one, 32, "write of global memory before simt_grid_wait", 1, true},
    {"early with wait", early_with_wait, 32, NULL, 2, true},
    {"not early with wait", early_with_wait, 32, NULL, 2},
    {"cluster", cluster_exchange, 64, NULL, 6, false, 3},
    {"cluster of 16", cluster_exchange, 40, NULL, 16, false, 16},
    {"cluster, own memory", cluster_own_memory, 32, NULL, 8, false, 4},
    {"cluster, one thread awaits", cluster_await_of_one, 32, "read of what another block sent without waiting", 2,
     false, 2},
    {"cluster, one box for all times", cluster_one_box, 32, "with a copy under way", 2, false, 2},
    {"cluster, read too early", cluster_read_too_early, 32, "read of shared memory with a copy under way", 2, false, 2},
    {"cluster, race on global memory", cluster_global_race, 32, "write by another block, read by", 2, false, 2},
    {"cluster, race on shared memory", cluster_shared_race, 64, "race on shared memory, byte", 2, false, 2},
};

/* Faults print themselves, so their texts would fill the output: what is meant to happen goes nowhere. */
static void be_quiet(bool quiet)
{
    static int kept = -1;
    fflush(stderr);
    if (quiet) {
        kept = dup(2);
        FILE *nowhere = freopen("/dev/null", "w", stderr);
        CHECK(nowhere != NULL, "cannot open /dev/null");
    } else {
        dup2(kept, 2);
        close(kept);
    }
}

static void carry_out(const plan &p)
{
    buffer<int> before_it(1), out(1024);
    long before = simt_faults();
    be_quiet(p.fault != NULL);
    if (p.is_early) { /* and again, so that what the first one wrote may still be on its way */
        SIMT_LAUNCH_EARLY(p.kernel, p.blocks, p.threads, 128, 0)(out.device);
        if (simt_faults() == before)
            SIMT_LAUNCH_EARLY(p.kernel, p.blocks, p.threads, 128, 0)(out.device);
    } else
        SIMT_LAUNCH_CLUSTER(p.kernel, p.blocks, p.cluster, p.threads, 128, 0)(out.device);
    if (p.fault)
        be_quiet(false);
    const char *text = simt_take_fault();
    cudaError_t error = cudaGetLastError();
    if (p.fault) {
        CHECK(text && strstr(text, p.fault), "%s: expected '%s', got '%s'", p.name, p.fault, text ? text : "no fault");
        CHECK(error == cudaErrorLaunchFailure && simt_faults() == before + 1, "%s: error %s", p.name,
              cudaGetErrorName(error));
    } else {
        CHECK(!text && error == cudaSuccess, "%s: unexpected fault '%s'", p.name, text ? text : "");
    }
    CHECK(simt_take_fault() == NULL, "%s: a fault is taken once", p.name);
}

static void test_faults(void)
{
    for (const plan &p : plans)
        carry_out(p);
}

/* Which of two threads races first depends on the order, and so do the texts. */
static void test_watched_faults(void)
{
    simt_permute(0);
    for (const plan &p : watched_plans)
        if (SIMT_WATCHED)
            carry_out(p);
    if (!SIMT_WATCHED)
        check_skip((long)(sizeof watched_plans / sizeof watched_plans[0]), "faults that only the watched build sees");
}

static void test_copies(void)
{
    buffer<int> out(1024);
    SIMT_LAUNCH(copies_in_groups, 1, 32, 0, 0)(out.device);
    out.fetch();
    for (int i = 0; i < 32; i++)
        CHECK(out.host[i] == i + 1 && out.host[32 + i] == i + 101 && out.host[64 + i] == 31 - i + 101,
              "copies of thread %d: %d, %d, %d", i, out.host[i], out.host[32 + i], out.host[64 + i]);
    if (SIMT_WATCHED) /* which sees the faults in it */
        return;
    SIMT_LAUNCH(copies_awaited_too_late, 1, 32, 0, 0)(out.device);
    out.fetch();
    for (int i = 0; i < 32; i++)
        for (int step = 0; step < 4; step++)
            CHECK(out.host[32 * step + i] == (step == 3 ? 6 : -1), "copy of thread %d, step %d: %d", i, step,
                  out.host[32 * step + i]);
}

/* What the exchange gives, who is whose neighbour in two dimensions, and which launches are none. */
GPU_KERNEL void cluster_ranks(int *out)
{
    out[blockIdx.y * gridDim.x + blockIdx.x] = simt_cluster_rank() + 100 * simt_cluster_size();
}
static void test_clusters(void)
{
    buffer<int> out(1024);
    for (uint64_t seed = 0; seed < 5; seed++)
        for (int size = 1; size <= 16; size++) {
            simt_permute(seed);
            CHECK(SIMT_LAUNCH_CLUSTER(cluster_exchange, 2 * size, size, 32, 0, 0)(out.device) == cudaSuccess,
                  "an exchange");
            out.fetch();
            unsigned sum[16], next[16], wrong = 0;
            for (int r = 0; r < size; r++)
                sum[r] = (unsigned)r + 1;
            for (int i = 0; i < 6; i++) {
                for (int r = 0; r < size; r++)
                    for (int q = (next[r] = sum[r], 0); q < size; q++)
                        next[r] = 3 * next[r] + sum[q];
                memcpy(sum, next, sizeof sum);
            }
            for (int i = 0; i < 2 * size * 32; i++)
                wrong += (unsigned)out.host[i] != sum[i / 32 % size];
            CHECK(wrong == 0, "exchange of %d blocks: %u wrong", size, wrong);
        }
    simt_permute(0);
    /* Rank r writes 10 (next + 1) + r to the next block, which finds it as block `next`. */
    SIMT_LAUNCH_CLUSTER(cluster_map_next, 6, 3, 1, 0, 0)(out.device);
    out.fetch();
    for (int i = 0; i < 6; i++)
        CHECK(out.host[i] == 10 * (i % 3 + 1) + (i % 3 + 2) % 3, "block %d has %d from another", i, out.host[i]);
    SIMT_LAUNCH_CLUSTER(cluster_own_memory, 8, 4, 32, 128, 0)(out.device);
    out.fetch();
    for (int i = 0; i < 8 * 32; i++)
        CHECK(out.host[i] == 2 * (100 * (i / 32) + 31 - i % 32), "own memory of block %d: %d", i / 32, out.host[i]);
    SIMT_LAUNCH_CLUSTER(cluster_ranks, dim3(6, 4), dim3(3, 2), 1, 0, 0)(out.device);
    out.fetch();
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 6; x++)
            CHECK(out.host[6 * y + x] == 600 + x % 3 + y % 2 * 3, "rank of block (%d,%d): %d", x, y,
                  out.host[6 * y + x]);
    CHECK(SIMT_LAUNCH_CLUSTER(cluster_ranks, 5, 2, 1, 0, 0)(out.device) == cudaErrorInvalidValue &&
              cudaGetLastError() == cudaErrorInvalidValue, "five blocks in clusters of two");
    CHECK(SIMT_LAUNCH_CLUSTER(cluster_ranks, 32, 32, 1, 0, 0)(out.device) == cudaErrorInvalidClusterSize &&
              cudaGetLastError() == cudaErrorInvalidClusterSize && simt_clusters(cluster_ranks, 32, 1, 0) == 0 &&
              simt_clusters(cluster_ranks, 16, 1, 0) > 0 && simt_clusters(cluster_ranks, 2, 1025, 0) == 0,
          "clusters of 32 blocks");
    simt_capability(8, 6);
    int major = 0, minor = 0;
    CHECK(SIMT_LAUNCH_CLUSTER(cluster_ranks, 2, 2, 1, 0, 0)(out.device) == cudaErrorInvalidClusterSize &&
              cudaGetLastError() == cudaErrorInvalidClusterSize && simt_clusters(cluster_ranks, 2, 1, 0) == 0 &&
              cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
              cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0) == cudaSuccess && major == 8 &&
              minor == 6,
          "a device without clusters");
    simt_capability(9, 0);
}

/* A launch says of itself whether it was accepted. */
static void test_early_launch(void)
{
    buffer<int> out(64);
    CHECK(SIMT_LAUNCH_EARLY(early_with_wait, 2, 32, 0, 0)(out.device) == cudaSuccess, "an early launch");
    CHECK(SIMT_LAUNCH_EARLY(early_with_wait, 2, 1025, 0, 0)(out.device) == cudaErrorInvalidConfiguration &&
              cudaGetLastError() == cudaErrorInvalidConfiguration, "an early launch of 1025 threads");
    out.fetch();
    for (int i = 0; i < 64; i++)
        CHECK(out.host[i] == i % 32, "early launch, thread %d: %d", i, out.host[i]);
}

/* A program that leaves a fault behind must not pass. */
static void test_exit_status(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        be_quiet(true);
        SIMT_LAUNCH(mask_without_caller, 1, 32, 0, 0)(NULL);
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 70,
          "status of a program with a fault: 0x%x", (unsigned)status);
}

/* ---- the perturbed reciprocal ---------------------------------------------------------------------------------- */

/* Errors of many reciprocals in units in the last place: sum of absolute values, and the largest; then the answers at
   the ends of the range. */
GPU_KERNEL void reciprocals(double *out)
{
    const int count = 10000;
    double sum_f32 = 0, sum_f64 = 0, largest_f32 = 0, largest_f64 = 0;
    for (int i = 0; i < count; i++) {
        double x = 1.0 + (i + 0.1) / count;
        float narrow = (float)x;
        double e32 = fabs((simt_reciprocal(narrow) - 1.0 / narrow) * 0x1p24);
        double e64 = (double)fabsl((simt_reciprocal(x) - 1.0L / x) * 0x1p53L);
        sum_f32 += e32;
        sum_f64 += e64;
        largest_f32 = fmax(largest_f32, e32);
        largest_f64 = fmax(largest_f64, e64);
    }
    out[0] = sum_f32 / count;
    out[1] = sum_f64 / count;
    out[2] = largest_f32;
    out[3] = largest_f64;
    out[4] = simt_reciprocal(-0.0f);
    out[5] = simt_reciprocal(1e-40f);
    out[6] = simt_reciprocal(-3e38f);
    out[7] = simt_reciprocal(0.0);
    out[8] = simt_reciprocal((double)INFINITY);
    out[9] = simt_reciprocal(0x1p1022);
    out[10] = simt_reciprocal(-0x1p-30f) + simt_reciprocal(0x1p30);
}

static void test_reciprocal(void)
{
    buffer<double> out(11);
    SIMT_LAUNCH(reciprocals, 1, 1, 0, 0)(out.device);
    const double *got = out.fetch();
    for (int i = 0; i < 2; i++) { /* correctly rounded: a mean of 0.25, at most 0.5 */
        CHECK(got[i] > 0.28 && got[i] < 0.4, "mean error of reciprocal %d: %g", i, got[i]);
        CHECK(got[2 + i] > 0.9 && got[2 + i] <= 1.0, "largest error of reciprocal %d: %g", i, got[2 + i]);
    }
    CHECK(got[4] == -INFINITY && got[5] == INFINITY && got[6] == 0 && signbit(got[6]), "float: %g %g %g", got[4],
          got[5], got[6]);
    CHECK(got[10] == -0x1p30 + 0x1p-30, "powers of two: %g", got[10]);
    CHECK(isnan(got[7]) && isnan(got[8]) && got[9] == 0, "double: %g %g %g", got[7], got[8], got[9]);
    CHECK(simt_reciprocal(3.0f) == 1.0f / 3.0f && simt_reciprocal(0.0) == INFINITY, "on the host");
}

/* ---- random order ---------------------------------------------------------------------------------------------- */

/* Each thread reads what the thread before it wrote; in order that happens to work without a barrier. */
template <bool WITH_BARRIER> GPU_KERNEL void read_neighbour(int *out)
{
    __shared__ int values[64];
    unsigned thread = threadIdx.x;
    values[thread] = (int)thread;
    if (WITH_BARRIER)
        __syncthreads();
    out[thread] = values[thread ? thread - 1 : 0];
}

static int wrong_neighbours(void (*kernel)(int *))
{
    buffer<int> out(64);
    SIMT_LAUNCH(kernel, 1, 64, 0, 0)(out.device);
    out.fetch();
    int wrong = 0;
    for (int i = 0; i < 64; i++)
        wrong += out.host[i] != (i ? i - 1 : 0);
    return wrong;
}

static void test_permutation(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        simt_permute(seed);
        CHECK(wrong_neighbours(read_neighbour<true>) == 0, "with a barrier, seed %d", (int)seed);
        if (!SIMT_WATCHED)
            CHECK(wrong_neighbours(read_neighbour<false>) > 0, "without a barrier, seed %d", (int)seed);
    }
    simt_permute(0);
    if (!SIMT_WATCHED)
        CHECK(wrong_neighbours(read_neighbour<false>) == 0, "in order");
}

static void test_emulator(void)
{
    test_faults();
    test_copies();
    test_clusters();
    test_early_launch();
    test_reciprocal();
    test_permutation();
    test_watched_faults();
    test_exit_status();
}

#else

static void test_emulator(void) { check_skip(1, "faults and orders of the emulator, on a GPU"); }

#endif

int main(void)
{
    test_all_shuffles();
    test_votes();
    test_block_sizes();
    test_dynamic_shared();
    test_vectors();
    test_atomics();
    test_dimensions();
    test_bits();
    test_launch_limits();
    test_runtime();
    test_emulator();
    return check_report();
}
