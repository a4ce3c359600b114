/* barriers.cu - what synccheck of compute-sanitizer 2025.3.1 (CUDA 13.0) makes of a correct kernel whose blocks send to
   each other and open two barriers each: "Detected overflow of tracked cuda::barrier structures. Try using
   --num-cuda-barriers", and the launch fails. "make gpu-test" does as it says.   MIT licence, see LICENSE.

       nvcc -arch=sm_90 -o barriers tests/sanitizer/barriers.cu && compute-sanitizer --tool synccheck ./barriers */
#include <stdio.h>
#define AT(place) ((unsigned)__cvta_generic_to_shared(place))
static __global__ void __cluster_dims__(2) exchange(float *out, int times)
{
    __shared__ unsigned long long boxes[2];
    __shared__ __align__(16) float from[2][2][4];
    unsigned rank, full, thread = threadIdx.x;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (thread < 2)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(
                         AT(&boxes[thread])) : "memory");
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    for (int i = 0; i < times; i++) {
        unsigned k = i & 1, box = AT(&boxes[k]);
        if (thread == 0)
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 32;" ::"r"(box) : "memory");
        if (thread < 2) /* to each of the two blocks */
            asm volatile("{.reg .b32 b, t; mapa.shared::cluster.u32 b, %0, %2; mapa.shared::cluster.u32 t, %1, %2;\n\t"
                         "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [t], {%3, %3, %3, %3}, "
                         "[b];}" ::"r"(box), "r"(AT(from[k][rank])), "r"(thread), "f"((float)rank) : "memory");
        do asm volatile("{.reg .pred full;\n\tmbarrier.try_wait.parity.shared::cta.b64 full, [%1], %2;\n\t"
                        "selp.u32 %0, 1, 0, full;}" : "=r"(full) : "r"(box), "r"(i / 2 & 1) : "memory");
        while (!full);
        out[blockIdx.x * blockDim.x + thread] = from[k][1][0];
        __syncthreads();
    }
}
int main(void)
{
    float *out;
    cudaMalloc(&out, 4 * 128 * sizeof *out);
    exchange<<<4, 128>>>(out, 9);
    puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
