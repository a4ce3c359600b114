/* structs.cu - coalesced reads of an array of structs: lane l of a warp gets the whole of struct l.
   MIT licence, see LICENSE. */
#include "transpose.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>

__global__ void lengths(int count, const float *structs, float *length)
{
    __shared__ float buffer[TRANSPOSE_LEN_F32(5)];
    int first = 32 * (int)blockIdx.x, lane = (int)threadIdx.x;
    float s[5];
    transpose_load(5, 32, 5 * (count - first), structs + 5 * (size_t)first, 0.0f, s, buffer);
    if (first + lane < count)
        length[first + lane] = sqrtf(s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + s[3] * s[3] + s[4] * s[4]);
}

int main(void)
{
    enum { COUNT = 1000 };
    static float structs[5 * COUNT], length[COUNT];
    float *device;
    for (int i = 0; i < 5 * COUNT; i++) structs[i] = (float)(i % 7);
    check(cudaMalloc((void **)&device, sizeof structs + sizeof length));
    check(cudaMemcpy(device, structs, sizeof structs, cudaMemcpyHostToDevice));
    lengths<<<(COUNT + 31) / 32, 32>>>(COUNT, device, device + 5 * COUNT);
    check(cudaGetLastError());
    check(cudaMemcpy(length, device + 5 * COUNT, sizeof length, cudaMemcpyDeviceToHost));
    check(cudaFree(device));

    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        double sum = 0;
        for (int k = 0; k < 5; k++) sum += (double)structs[5 * i + k] * structs[5 * i + k];
        wrong += !(fabs(length[i] - sqrt(sum)) <= 1e-5);
    }
    printf("%d structs of 5 floats, %d wrong\n", COUNT, wrong);
    return wrong != 0;
}
