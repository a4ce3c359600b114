/* shared_pcr.cu - the hybrid composed of its parts, with the reduced rows exchanged through shared memory.
   MIT licence, see LICENSE.

   trid_warp_hybrid exchanges by shuffles. Where shuffles are the limit, or the reduced system needs another solver,
   call the two halves of the hybrid. trid_warp_reduce reduces K rows a lane to one; trid_warp_expand expands the result
   of your own PCR. */
#include "trid.h"
#include "cuda_check.h"

#include <stdio.h>
#include <stdlib.h>

enum { K = 4, W = 16, WARPS = 2 };

/* Solves a x[l-1] + x + c x[l+1] = *d, with row l in lane l of each group of W lanes. */
static __device__ void solve_by_pcr(float a, float c, float *d, float (*shared)[32])
{
    int lane = (int)threadIdx.x % 32, rank = lane % W;
    if (rank == 0) a = 0;
    if (rank == W - 1) c = 0;
    for (int s = 1; s < W; s *= 2) {
        /* A lane without a row that far above or below reads its own row instead; its coupling there is zero. */
        int above = rank >= s ? lane - s : lane, below = rank + s < W ? lane + s : lane;
        __syncwarp(); /* the step before has been read */
        shared[0][lane] = a, shared[1][lane] = c, shared[2][lane] = *d;
        __syncwarp();
        trid_lane_pcr_step_f32(&a, &c, d, shared[0][above], shared[1][above], shared[2][above], shared[0][below],
                               shared[1][below], shared[2][below]);
    }
}

/* Solves systems of n <= K * W = 64 rows. A warp solves two of them. */
__global__ void solve(int n, int systems, const float *a, const float *b, const float *c, const float *d, float *x)
{
    __shared__ float shared[WARPS][3][32];
    float ra[K], rb[K], rc[K], rd[K];
    int system = (int)((blockIdx.x * blockDim.x + threadIdx.x) / W), first = K * ((int)threadIdx.x % W);
    int rows = system < systems ? n : 0; /* all lanes take part, even those without a system */
    size_t at = (size_t)n * system + first;
    for (int j = 0; j < K; j++)
        if (first + j < rows) ra[j] = a[at + j], rb[j] = b[at + j], rc[j] = c[at + j], rd[j] = d[at + j];

    trid_warp_reduce(K, W, rows, ra, rb, rc, rd);
    float last = rd[K - 1];
    solve_by_pcr(ra[K - 1], rc[K - 1], &last, shared[threadIdx.x / 32]);
    trid_warp_expand(K, W, ra, rc, rd, last);

    for (int j = 0; j < K; j++)
        if (first + j < rows) x[at + j] = rd[j];
}

int main(void)
{
    enum { N = 50, SYSTEMS = 101, ROWS = N * SYSTEMS, BLOCK = 32 * WARPS };
    static float a[ROWS], b[ROWS], c[ROWS], d[ROWS], x[ROWS], *device;
    for (int i = 0; i < ROWS; i++) {
        a[i] = c[i] = 1;
        b[i] = 3 + (float)(i % 5);
        d[i] = (float)(i % 11);
    }
    check(cudaMalloc((void **)&device, 5 * sizeof a));
    float *on[] = {device, device + ROWS, device + 2 * ROWS, device + 3 * ROWS, device + 4 * ROWS};
    const float *host[] = {a, b, c, d};
    for (int k = 0; k < 4; k++) check(cudaMemcpy(on[k], host[k], sizeof a, cudaMemcpyHostToDevice));
    solve<<<(SYSTEMS * W + BLOCK - 1) / BLOCK, BLOCK>>>(N, SYSTEMS, on[0], on[1], on[2], on[3], on[4]);
    check(cudaGetLastError());
    check(cudaMemcpy(x, on[4], sizeof x, cudaMemcpyDeviceToHost));
    check(cudaFree(device));

    double worst = 0;
    for (int i = 0; i < ROWS; i += N) {
        double r = trid_host_residual_f32(N, a + i, b + i, c + i, d + i, x + i);
        if (!(r <= worst)) worst = r;
    }
    printf("%d systems of %d rows, largest residual %.2g\n", SYSTEMS, N, worst);
    return worst < 1e-6 ? 0 : 1;
}
