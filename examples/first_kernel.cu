/* first_kernel.cu - three kernels, from a loop over rows to one system per warp at the speed of memory (docs/guide.md).
   MIT licence, see LICENSE.

       cp trid.h transpose.h first_kernel.cu cuda_check.h somewhere && cd somewhere
       nvcc -arch=native -o first_kernel first_kernel.cu && ./first_kernel

   All three solve the same systems. Prints the residual and, on a GPU, the time of each. Exits with 0 if all is well, 3
   without a GPU. */
#include "transpose.h"
#include "trid.h"
#include "cuda_check.h"

#include <stdio.h>
#include <vector>

/* One: the Thomas algorithm as in a textbook, one system per thread. w is work space of the size of x. */
__global__ void thomas(int n, int systems, const float *a, const float *b, const float *c, const float *d, float *x,
                       float *w)
{
    int system = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (system >= systems) return;
    size_t at = (size_t)n * system;
    float above = 0, value = 0;
    for (int j = 0; j < n; j++) { /* down: each row loses the unknown above it */
        float low = j > 0 ? a[at + j] : 0, r = 1 / (b[at + j] - low * above);
        w[at + j] = above = j < n - 1 ? c[at + j] * r : 0;
        x[at + j] = value = (d[at + j] - low * value) * r;
    }
    for (int j = n - 2; j >= 0; j--) x[at + j] = value = x[at + j] - w[at + j] * value; /* and up */
}

/* Two: one system per warp, of up to 256 rows, which lie in registers: rows 8l .. 8l+7 in lane l. */
__global__ void hybrid(int n, int systems, const float *a, const float *b, const float *c, const float *d, float *x)
{
    int system = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32, first = 8 * ((int)threadIdx.x % 32);
    if (system >= systems) return; /* the whole warp */
    float ra[8], rb[8], rc[8], rd[8];
    size_t at = (size_t)n * system + first;
    for (int j = 0; j < 8; j++)
        if (first + j < n) ra[j] = a[at + j], rb[j] = b[at + j], rc[j] = c[at + j], rd[j] = d[at + j];
    trid_warp_hybrid(8, 32, n, ra, rb, rc, rd);
    for (int j = 0; j < 8; j++)
        if (first + j < n) x[at + j] = rd[j];
}

enum { WARPS = 4 };

/* Three: the same, but neighbouring lanes read neighbouring elements, and the rows reach their lanes through shared
   memory. */
__global__ void coalesced(int n, int systems, const float *a, const float *b, const float *c, const float *d, float *x)
{
    __shared__ float buffer[WARPS][TRANSPOSE_LEN_F32(8)];
    int system = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (system >= systems) return;
    float ra[8], rb[8], rc[8], rd[8], *shared = buffer[threadIdx.x / 32];
    size_t at = (size_t)n * system;
    transpose_load_striped(8, 32, n, a + at, 0, ra); /* all loads are in flight at the same time */
    transpose_load_striped(8, 32, n, b + at, 1, rb);
    transpose_load_striped(8, 32, n, c + at, 0, rc);
    transpose_load_striped(8, 32, n, d + at, 0, rd);
    transpose_to_blocked(8, ra, shared);
    transpose_to_blocked(8, rb, shared);
    transpose_to_blocked(8, rc, shared);
    transpose_to_blocked(8, rd, shared);
    trid_warp_hybrid(8, 32, n, ra, rb, rc, rd);
    transpose_store(8, 32, n, rd, x + at, shared);
}

int main(void)
{
#ifdef SIMT_EMULATOR /* slow: tests/simt runs every thread on the CPU */
    const int n = 200, systems = 50;
#else
    const int n = 200, systems = 400000;
#endif
    const size_t rows = (size_t)n * systems;
    std::vector<float> host(5 * rows);
    for (size_t i = 0; i < rows; i++) {
        host[i] = host[2 * rows + i] = -1;
        host[rows + i] = 2.5f;
        host[3 * rows + i] = (float)(i % 17);
    }
    float *a, *w, *x = &host[4 * rows];
    check(cudaMalloc((void **)&a, 6 * rows * sizeof *a));
    float *b = a + rows, *c = b + rows, *d = c + rows, *to = d + rows;
    w = to + rows;
    check(cudaMemcpy(a, host.data(), 4 * rows * sizeof *a, cudaMemcpyHostToDevice));
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));

    double largest = 0;
    for (int kernel = 1; kernel <= 3; kernel++) {
        float ms = 0;
        for (int run = 0; run < 2; run++) { /* the second is timed */
            check(cudaEventRecord(start, 0));
            if (kernel == 1) thomas<<<(systems + 127) / 128, 128>>>(n, systems, a, b, c, d, to, w);
            if (kernel == 2) hybrid<<<(systems + WARPS - 1) / WARPS, 32 * WARPS>>>(n, systems, a, b, c, d, to);
            if (kernel == 3) coalesced<<<(systems + WARPS - 1) / WARPS, 32 * WARPS>>>(n, systems, a, b, c, d, to);
            check(cudaGetLastError());
            check(cudaEventRecord(stop, 0));
        }
        check(cudaMemcpy(x, to, rows * sizeof *x, cudaMemcpyDeviceToHost));
        check(cudaEventElapsedTime(&ms, start, stop));
        double worst = 0;
        for (size_t at = 0; at < rows; at += n) {
            const float *from = &host[at];
            double r = trid_host_residual_f32(n, from, from + rows, from + 2 * rows, from + 3 * rows, from + 4 * rows);
            if (!(r <= worst)) worst = r;
        }
        const char *name = kernel == 1 ? "thomas" : kernel == 2 ? "hybrid" : "coalesced";
        printf("%-9s  residual %.1e", name, worst);
#ifdef SIMT_EMULATOR
        printf("\n");
#else
        printf(", %7.3f ms, %5.0f GB/s\n", ms, 5e-6 * sizeof *x * rows / ms);
#endif
        if (!(worst <= largest)) largest = worst;
        check(cudaMemset(to, 0xff, rows * sizeof *to)); /* NaN, so that no kernel profits from the one before */
    }
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    check(cudaFree(a));
    return largest < 1e-6 ? 0 : 1; /* 17 unit roundoffs */
}
