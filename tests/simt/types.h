/* types.h - CUDA's vectors, dim3, errors and handles. */
#ifndef SIMT_TYPES_H
#define SIMT_TYPES_H

#include "words.h"

#define SIMT_VECTOR2(name, type, bytes)                                  \
    struct __attribute__((aligned(bytes))) name {                        \
        type x, y;                                                       \
    };                                                                   \
    SIMT_INLINED name make_##name(type x, type y) { return name{x, y}; }
#define SIMT_VECTOR3(name, type)                                         \
    struct name {                                                        \
        type x, y, z;                                                    \
    };                                                                   \
    SIMT_INLINED name make_##name(type x, type y, type z) { return name{x, y, z}; }
#define SIMT_VECTOR4(name, type, bytes)                                  \
    struct __attribute__((aligned(bytes))) name {                        \
        type x, y, z, w;                                                 \
    };                                                                   \
    SIMT_INLINED name make_##name(type x, type y, type z, type w) { return name{x, y, z, w}; }

SIMT_VECTOR2(float2, float, 8)
SIMT_VECTOR2(double2, double, 16)
SIMT_VECTOR2(int2, int, 8)
SIMT_VECTOR2(uint2, unsigned, 8)
SIMT_VECTOR2(longlong2, long long, 16)
SIMT_VECTOR2(ulonglong2, unsigned long long, 16)
SIMT_VECTOR3(float3, float)
SIMT_VECTOR3(int3, int)
SIMT_VECTOR3(uint3, unsigned)
SIMT_VECTOR4(float4, float, 16)
SIMT_VECTOR4(int4, int, 16)
SIMT_VECTOR4(uint4, unsigned, 16)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorInvalidClusterSize = 912,
    cudaErrorLaunchFailure = 719
};

struct simt_stream;
struct simt_event;
typedef simt_stream *cudaStream_t;
typedef simt_event *cudaEvent_t;

#endif
