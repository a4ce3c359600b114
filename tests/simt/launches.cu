/* launches.cu - launches in every form that programs use, for tests/simt/run_test.sh.
   MIT licence, see LICENSE.

   Each launch adds its number at a place of its own, so that a missing launch shows. Exits with the number of the first
   wrong place, counted from 1. */
#include <cuda_runtime.h>
#include <stdio.h>

#define ADD(kernel, n) kernel<<<1, 1>>>(n)

extern __shared__ __align__(16) float outer[]; /* of all kernels */

__global__ void add(int *place, int number) { *place += number; }
namespace more
{
__global__ void add_one(int *place) { ++*place; }
template <int number> __global__ void add(int *place) { *place += number; }
} // namespace more
template <int number, class type> __global__ void add_number(type *place) { *place += number; }
template <int number> constexpr int twice() { return 2 * number; }
template <class first, class second> constexpr int size_of_both() { return (int)(sizeof(first) + sizeof(second)); }

/* Adds up the block's threads through dynamic shared memory, under two names. */
__global__ void add_threads(int *place)
{
    extern __shared__ int numbers[];
    numbers[threadIdx.x] = 1;
    __syncthreads();
    for (unsigned i = 0; threadIdx.x == 0 && i < blockDim.x; i++) *place += numbers[i];
    __syncthreads();
    outer[threadIdx.x] = 2; // kernel<<<1, 1>>>(none)
    __syncthreads();
    if (threadIdx.x == 0) *place += (int)outer[blockDim.x - 1];
}

static void (*choose(bool one))(int *) { return one ? more::add_one : add_number<2, int>; }

int main(void)
{
    const int count = 16, wanted[count] = {1, 1, 2, 3, 4, 8, 8, 5, 1, 2, 10, 8, 1, 34, 2'0, __LINE__ + 27};
    int *at, *place, host[count];
    cudaMalloc((void **)&at, sizeof host);
    cudaMemset(at, 0, sizeof host);
    place = at;
    void (*kernels[2])(int *) = {more::add_one, add_number<2, int>};

    add<<<1, 1>>>(place++, 1);
    more::add_one<<<dim3(1), dim3(1, 1), 0>>>(place++);
    ::add_number<2, int><<<1, 1, 0, 0>>>(place++);
    add_number < 3, int > <<< 1 , 1 >>> (place++);
    add_number<(8 >> 1), int> // more than one line <<<
        <<<1,     /* >>> */
           dim3(1)>>>(place++);
    add_number<twice<twice<2>()>(), int><<<twice<1>() - 1, 1>>>(place++);
    if (place) add_number<size_of_both<int, float>(), int><<<size_of_both<int, float>() / 8, 1>>>(place++);
    else add<<<1, 1>>>(place, 100);
    more::add<5><<<1, 1>>>(place++);
    kernels[0]<<<1, 1>>>(place++);
    (*kernels[1])<<<1, 1>>>(place++);
    for (int i = 0; i < 10; i++) (*kernels[0])<<<1, 1>>>(place);
    ++place;
    ADD(more::add<8>, place++);
    choose(true)<<<1, 1>>>(place++);
    add_threads<<<1, 32, 32 * sizeof(int)>>>(place++);
    add<<<1, (unsigned)R"x("<<<)x"[3] / '<'>>>(place++, (int)sizeof "kernel<<<1>>>\"" + (1'0 > 1 ? 5 : 0));
    add<<<1,
          1>>>(place++, __LINE__);

    cudaMemcpy(host, at, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        if (host[i] != wanted[i]) {
            printf("launch %d: %d instead of %d\n", i + 1, host[i], wanted[i]);
            return i + 1;
        }
    return cudaFree(at) != cudaSuccess;
}
