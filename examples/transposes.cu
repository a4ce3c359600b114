/* transposes.cu - running sums along rows: three ways into the blocked layout and back, one result.
   MIT licence, see LICENSE.

   Row by row, sum[i] += x[0] + ... + x[i]. In the blocked layout this takes no shared memory: each lane adds up the
   elements that it holds, and five shuffles bring the sums of the lanes before it. The ways into the layout are:
     SHARED   through shared memory: any K, any alignment
     SHFL     by shuffles: K a power of two, no shared memory
     VEC      each lane accesses its own elements, 16 bytes at a time. For one array this is as fast as SHARED if
              the K elements of a lane take 16 bytes (for loads, up to 32). Rows not aligned to 16 bytes are accessed
              element by element.
   docs/transpose.md has the speeds. Exits with 0 if the sums are right, 3 without a GPU. */
#include "transpose.h"
#include "cuda_check.h"

#include <stdio.h>
#include <stdlib.h>

enum { SHARED, SHFL, VEC, K = 4, W = 32 };

/* Block i holds row i of n <= 128 elements in its one warp. Elements beyond n count as 0 and are not written. */
template <int WAY>
static __global__ void add_running_sums(int n, const float *x, float *sum)
{
    __shared__ float buffer[WAY == SHARED ? TRANSPOSE_LEN_F32(K) : 1];
    float u[K];
    x += (size_t)n * blockIdx.x;
    sum += (size_t)n * blockIdx.x;
    if (WAY == SHARED) transpose_load(K, W, n, x, 0.0f, u, buffer);
    if (WAY == SHFL) transpose_load_shfl(K, W, n, x, 0.0f, u);
    if (WAY == VEC) transpose_load_vec(K, W, n, x, 0.0f, u, 1); /* 1: will not be read again */

    for (int j = 1; j < K; j++) u[j] += u[j - 1];
    float up_to = u[K - 1]; /* the sum over this lane and some lanes before it */
    for (int distance = 1; distance < 32; distance *= 2) {
        float before = __shfl_up_sync(0xffffffff, up_to, distance);
        if ((int)threadIdx.x >= distance) up_to += before;
    }
    float before = up_to - u[K - 1];
    for (int j = 0; j < K; j++) u[j] += before;

    if (WAY == SHARED) transpose_increment(K, W, n, u, sum, buffer);
    if (WAY == SHFL) transpose_increment_shfl(K, W, n, u, sum);
    if (WAY == VEC) transpose_increment_vec(K, W, n, u, sum, 0);
}

int main(void)
{
    enum { N = 100, ROWS = 500 };
    static float x[ROWS * N], sum[ROWS * N];
    float *device;
    for (int i = 0; i < ROWS * N; i++) x[i] = (float)(i % 7);
    check(cudaMalloc((void **)&device, sizeof x + sizeof sum));
    check(cudaMemcpy(device, x, sizeof x, cudaMemcpyHostToDevice));
    check(cudaMemset(device + ROWS * N, 0, sizeof sum));
    add_running_sums<SHARED><<<ROWS, 32>>>(N, device, device + ROWS * N);
    add_running_sums<SHFL><<<ROWS, 32>>>(N, device, device + ROWS * N);
    add_running_sums<VEC><<<ROWS, 32>>>(N, device, device + ROWS * N);
    check(cudaGetLastError());
    check(cudaMemcpy(sum, device + ROWS * N, sizeof sum, cudaMemcpyDeviceToHost));
    check(cudaFree(device));

    int wrong = 0;
    for (int row = 0; row < ROWS; row++) {
        float running = 0; /* small whole numbers, so there is no rounding */
        for (int i = N * row; i < N * (row + 1); i++) {
            running += x[i];
            wrong += sum[i] != 3 * running;
        }
    }
    printf("%d rows of %d elements, summed in three ways, %d wrong\n", ROWS, N, wrong);
    return wrong != 0;
}
