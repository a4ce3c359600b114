/* runtime.h - the functions of the CUDA runtime. */
#ifndef SIMT_RUNTIME_H
#define SIMT_RUNTIME_H

#include "launch.h"

SIMT_OWN const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidMemcpyDirection: return "cudaErrorInvalidMemcpyDirection";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorInvalidClusterSize: return "cudaErrorInvalidClusterSize";
    }
    return "unrecognized error code";
}

SIMT_OWN const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInvalidMemcpyDirection: return "invalid copy direction for memcpy";
    case cudaErrorInsufficientDriver: return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorInvalidClusterSize: return "Invalid cluster size";
    }
    return "unrecognized error code";
}

SIMT_OWN cudaError_t cudaPeekAtLastError(void) { return simt.last_error; }

SIMT_OWN cudaError_t cudaGetLastError(void)
{
    cudaError_t error = simt.last_error;
    simt.last_error = cudaSuccess;
    return error;
}

/* Calls that wait for the device report a kernel's failure, but not a launch that was refused. */
SIMT_OWN cudaError_t cudaDeviceSynchronize(void)
{
    return simt.last_error == cudaErrorLaunchFailure ? cudaErrorLaunchFailure : cudaSuccess;
}

SIMT_OWN size_t simt_physical_bytes(int pages) { return (size_t)sysconf(pages) * (size_t)sysconf(_SC_PAGESIZE); }

/* Allocates memory full of NaN. */
template <class T> SIMT_OWN cudaError_t simt_allocate(T **pointer, size_t bytes, void *(*take)(size_t))
{
    if (!pointer)
        return simt_set_error(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    void *memory = bytes > simt_physical_bytes(_SC_PHYS_PAGES) ? nullptr : take(bytes);
    if (!memory)
        return simt_set_error(cudaErrorMemoryAllocation);
    *pointer = (T *)memset(memory, SIMT_POISON, bytes);
    return cudaSuccess;
}
template <class T> SIMT_OWN cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
    return simt_allocate(pointer, bytes, simt_take_global);
}
template <class T> SIMT_OWN cudaError_t cudaMallocHost(T **pointer, size_t bytes)
{
    return simt_allocate(pointer, bytes, malloc);
}

SIMT_OWN cudaError_t cudaFree(void *pointer)
{
    simt_give_global(pointer);
    return cudaDeviceSynchronize();
}
SIMT_OWN cudaError_t cudaFreeHost(void *pointer) { return cudaFree(pointer); }

SIMT_OWN cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = simt_physical_bytes(_SC_AVPHYS_PAGES);
    *total_bytes = simt_physical_bytes(_SC_PHYS_PAGES);
    return cudaSuccess;
}

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};

SIMT_OWN cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return simt_set_error(cudaErrorInvalidMemcpyDirection);
    if (bytes && (!to || !from))
        return simt_set_error(cudaErrorInvalidValue);
    if (bytes)
        memcpy(to, from, bytes);
    return cudaDeviceSynchronize();
}
SIMT_OWN cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                     cudaStream_t = nullptr)
{
    return cudaMemcpy(to, from, bytes, kind);
}

SIMT_OWN cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    if (bytes && !memory)
        return simt_set_error(cudaErrorInvalidValue);
    if (bytes)
        memset(memory, value, bytes);
    return cudaDeviceSynchronize();
}
SIMT_OWN cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t = nullptr)
{
    return cudaMemset(memory, value, bytes);
}

/* The only device, with the limits of compute capability 9.0. */
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor;
    int maxThreadsDim[3], maxGridSize[3];
    int regsPerBlock, l2CacheSize;
};

SIMT_OWN cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (device != 0)
        return simt_set_error(cudaErrorInvalidDevice);
    *properties = cudaDeviceProp{"SIMT emulator", simt_physical_bytes(_SC_PHYS_PAGES), SIMT_DEFAULT_SHARED,
                                 simt.shared_most, simt.shared_most + 1024, simt.major, simt.minor, simt.processors,
                                 SIMT_LANES, SIMT_MAX_THREADS, 2048,
                                 {SIMT_MAX_THREADS, SIMT_MAX_THREADS, 64}, {0x7fffffff, 0xffff, 0xffff},
                                 65536, 1 << 20};
    return cudaSuccess;
}

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

SIMT_OWN cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error != cudaSuccess)
        return error;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = properties.maxThreadsPerBlock; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)properties.sharedMemPerBlock; return cudaSuccess;
    case cudaDevAttrWarpSize: *value = properties.warpSize; return cudaSuccess;
    case cudaDevAttrMultiProcessorCount: *value = properties.multiProcessorCount; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor: *value = properties.major; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = properties.minor; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)properties.sharedMemPerBlockOptin; return cudaSuccess;
    }
    return simt_set_error(cudaErrorInvalidValue);
}

SIMT_OWN cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : simt_set_error(cudaErrorInvalidDevice);
}
SIMT_OWN cudaError_t cudaDeviceCanAccessPeer(int *can, int, int)
{
    *can = 0;
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return simt_set_error(cudaErrorInvalidDevice); }
SIMT_OWN cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                         cudaStream_t = nullptr)
{
    if (to_device || from_device)
        return simt_set_error(cudaErrorInvalidDevice);
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

template <class Kernel>
SIMT_OWN cudaError_t cudaFuncSetAttribute(Kernel *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || (size_t)value > simt.shared_most)
        return simt_set_error(cudaErrorInvalidValue);
    simt_set_limit((const void *)kernel, (size_t)value);
    return cudaSuccess;
}

/* Streams and events. All work is done when a call returns, so they hold little. */
struct simt_stream {
    unsigned flags;
};
struct simt_event {
    timespec time;
};
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventDisableTiming = 2 };

SIMT_OWN cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = new simt_stream{flags};
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
SIMT_OWN cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}
SIMT_OWN cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
SIMT_OWN cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!stream)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    delete stream;
    return cudaSuccess;
}

SIMT_OWN cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new simt_event{};
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr)
{
    if (!event)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    clock_gettime(CLOCK_MONOTONIC, &event->time);
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) { return cudaEventCreate(event); }
SIMT_OWN cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
SIMT_OWN cudaError_t cudaEventQuery(cudaEvent_t) { return cudaDeviceSynchronize(); }
SIMT_OWN cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned = 0)
{
    return event ? cudaSuccess : simt_set_error(cudaErrorInvalidResourceHandle);
}
SIMT_OWN cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    if (!start || !end)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    *milliseconds = (float)((double)(end->time.tv_sec - start->time.tv_sec) * 1e3 +
                            (double)(end->time.tv_nsec - start->time.tv_nsec) * 1e-6);
    return cudaSuccess;
}
SIMT_OWN cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!event)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

#endif
