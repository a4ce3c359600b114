/* cpu_own_kernel.c - a kernel of your own, written with the vector layer of cpu_avx.h: a smoothing sweep.
   MIT licence, see LICENSE.

       gcc -std=c11 -O2 -I.. -o cpu_own_kernel cpu_own_kernel.c -lm && ./cpu_own_kernel

   v_i = u_i + w (u_(i-1) - 2 u_i + u_(i+1)) for 0 < i < n-1; v = u at the two ends. The kernel is written once, at the
   end of this file. The file includes itself for every instruction set, whatever the compiler's flags. CPU_AVX_PICK
   calls the kernel of one set. */
#ifndef CPU_AVX_SET
#include "cpu_avx.h"

#include <math.h>
#include <stdio.h>

#define CPU_AVX_PRECISION f32
#define CPU_AVX_SET plain
#include "cpu_own_kernel.c"
#if CPU_AVX_X86
#define CPU_AVX_SET avx
#include "cpu_own_kernel.c"
#define CPU_AVX_SET avx2
#include "cpu_own_kernel.c"
#define CPU_AVX_SET avx512
#include "cpu_own_kernel.c"
#elif CPU_AVX_ARM
#define CPU_AVX_SET neon
#include "cpu_own_kernel.c"
#endif

int main(void)
{
    enum { N = 1000 };
    float u[N], v[N], w = 0.25f;
    for (int i = 0; i < N; i++) u[i] = (float)(i * 37 % 101);
    for (int isa = 0; isa < CPU_AVX_ISAS; isa++) {
        double worst = 0;
        if (!cpu_avx_has(isa)) continue;
        CPU_AVX_PICK(isa, , smooth, f32, (N, w, u, v));
        for (int i = 1; i < N - 1; i++)
            worst = fmax(worst, fabs((double)v[i] - (u[i] + 0.25 * ((double)u[i - 1] - 2.0 * u[i] + u[i + 1]))));
        printf("%-6s off by %g at most\n", cpu_avx_name(isa), worst);
        if (!(worst < 1e-4) || v[0] != u[0] || v[N - 1] != u[N - 1]) return 1;
    }
    return 0;
}

#else /* CPU_AVX_SET: the kernel, for one instruction set. The loop loads each element once and keeps its neighbours. */

CPU_AVX_HERE static void CPU_AVX_OWN(smooth)(int n, float w, const float *u, float *v)
{
    enum { W = CPU_AVX(lanes) };
    CPU_AVX(vec) weight = CPU_AVX(set)(w), two = CPU_AVX(set)(2), below = CPU_AVX(set)(0);
    CPU_AVX(vec) here = CPU_AVX(load_part)(u, n < W ? n : W);
    for (int i = 0; i < n; i += W) {
        int left = n - i, more = left - W;
        CPU_AVX(vec)
        above = more >= W  ? CPU_AVX(load)(u + i + W)
                : more > 0 ? CPU_AVX(load_part)(u + i + W, more)
                           : CPU_AVX(set)(0);
        CPU_AVX(vec) sum = CPU_AVX(up)(below, here, 1) + CPU_AVX(down)(here, above, 1);
        sum = CPU_AVX(fma)(weight, CPU_AVX(fnma)(two, here, sum), here);
        CPU_AVX(store_part)(v + i, left < W ? left : W, sum);
        below = here, here = above;
    }
    v[0] = u[0], v[n - 1] = u[n - 1];
}
#undef CPU_AVX_SET
#endif
