/* barriers.cu - what synccheck of compute-sanitizer 2025.3.1 (CUDA 13.0) makes of a correct kernel whose blocks send to
   each other, and open two barriers each by one instruction: "Detected overflow of tracked cuda::barrier structures",
   and the launch fails. It finds nothing with -DTWO_INSTRUCTIONS.
   MIT licence, see LICENSE.

       nvcc -arch=sm_90 -o barriers tests/sanitizer/barriers.cu && compute-sanitizer --tool synccheck ./barriers */
#include <stdio.h>
#define ALL_MEET() asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory")
#define OPEN(box) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(box) : "memory")
static __global__ void __cluster_dims__(2) exchange(void)
{
    __shared__ __align__(16) struct { unsigned long long box[2], letter[2][2]; } mine;
    unsigned rank, full, at = (unsigned)__cvta_generic_to_shared(&mine), thread = threadIdx.x;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#ifdef TWO_INSTRUCTIONS
    if (thread == 0) { OPEN(at); OPEN(at + 8); }
#else
    if (thread < 2) OPEN(at + 8 * thread);
#endif
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    ALL_MEET();
    for (unsigned i = 0; i < 9; i++) {
        if (thread == 0)
            asm volatile("{.reg .b32 box, to;\n\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;\n\t"
                         "mapa.shared::cluster.u32 box, %0, %2;\n\tmapa.shared::cluster.u32 to, %1, %2;\n\t"
                         "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [to], {%3, %3, %3, %3}, "
                         "[box];}" ::"r"(at + 8 * (i & 1)), "r"(at + 16 * (i & 1) + 16), "r"(1 - rank), "r"(i)
                         : "memory");
        do asm volatile("{.reg .pred full;\n\tmbarrier.try_wait.parity.shared::cta.b64 full, [%1], %2;\n\t"
                         "selp.u32 %0, 1, 0, full;}" : "=r"(full) : "r"(at + 8 * (i & 1)), "r"(i / 2 & 1) : "memory");
        while (!full);
        ALL_MEET();
    }
}
int main(void)
{
    exchange<<<4, 128>>>();
    puts(cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
