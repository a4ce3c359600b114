/* cpu_own_kernel.c - a kernel of one's own, composed of the vector layer of cpu_avx.h: a smoothing sweep.
   MIT licence, see LICENSE.

       gcc -std=c11 -O2 -o cpu_own_kernel cpu_own_kernel.c -lm && ./cpu_own_kernel

   v_i = u_i + w (u_(i-1) - 2 u_i + u_(i+1)) for 0 < i < n-1, the two ends stay. Written once, compiled for every
   instruction set, whatever the compiler's flags; which of them runs is decided where it is called. */
#include "cpu_avx.h"

#include <math.h>
#include <stdio.h>

/* Every element is loaded once; its neighbours come from the registers beside it. */
#define SMOOTH(set)                                                                                                    \
    CPU_AVX_TARGET_##set static void smooth_##set(int n, float w, const float *u, float *v)                            \
    {                                                                                                                  \
        enum { W = cpu_avx_lanes_##set##_f32 };                                                                        \
        cpu_avx_vec_##set##_f32 weight = cpu_avx_set_##set##_f32(w), two = cpu_avx_set_##set##_f32(2);                 \
        cpu_avx_vec_##set##_f32 below = cpu_avx_set_##set##_f32(0);                                                    \
        cpu_avx_vec_##set##_f32 here = cpu_avx_load_part_##set##_f32(u, n < W ? n : W);                                \
        for (int i = 0; i < n; i += W) {                                                                               \
            int left = n - i, more = left - W;                                                                         \
            cpu_avx_vec_##set##_f32 above = more >= W  ? cpu_avx_load_##set##_f32(u + i + W)                           \
                                            : more > 0 ? cpu_avx_load_part_##set##_f32(u + i + W, more)                \
                                                       : cpu_avx_set_##set##_f32(0);                                   \
            cpu_avx_vec_##set##_f32 sum = cpu_avx_add_##set##_f32(cpu_avx_up_##set##_f32(below, here, 1),              \
                                                                  cpu_avx_down_##set##_f32(here, above, 1));           \
            sum = cpu_avx_fma_##set##_f32(weight, cpu_avx_fnma_##set##_f32(two, here, sum), here);                     \
            if (more >= 0)                                                                                             \
                cpu_avx_store_##set##_f32(v + i, sum);                                                                 \
            else                                                                                                       \
                cpu_avx_store_part_##set##_f32(v + i, left, sum);                                                      \
            below = here, here = above;                                                                                \
        }                                                                                                              \
        v[0] = u[0], v[n - 1] = u[n - 1];                                                                              \
    }
SMOOTH(plain)
#if CPU_AVX_X86
SMOOTH(avx)
SMOOTH(avx2)
SMOOTH(avx512)
#endif

static void smooth(int isa, int n, float w, const float *u, float *v)
{
#if CPU_AVX_X86
    if (isa == CPU_AVX_AVX512) smooth_avx512(n, w, u, v);
    if (isa == CPU_AVX_AVX2) smooth_avx2(n, w, u, v);
    if (isa == CPU_AVX_AVX) smooth_avx(n, w, u, v);
#endif
    if (isa == CPU_AVX_PLAIN) smooth_plain(n, w, u, v);
}

int main(void)
{
    enum { N = 1000 };
    float u[N], v[N], w = 0.25f;
    for (int i = 0; i < N; i++) u[i] = (float)(i * 37 % 101);
    for (int isa = 0; isa < CPU_AVX_ISAS; isa++) {
        double worst = 0;
        if (!cpu_avx_has(isa)) continue;
        smooth(isa, N, w, u, v);
        for (int i = 1; i < N - 1; i++)
            worst = fmax(worst, fabs((double)v[i] - (u[i] + 0.25 * ((double)u[i - 1] - 2.0 * u[i] + u[i + 1]))));
        printf("%-6s off by %g at most\n", cpu_avx_name(isa), worst);
        if (!(worst < 1e-4) || v[0] != u[0] || v[N - 1] != u[N - 1]) return 1;
    }
    return 0;
}
