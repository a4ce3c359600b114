/* block_lines.cu - the columns of a grid, solved where they lie: accesses coalesce, and nothing is transposed.
   MIT licence, see LICENSE.

   A block takes L columns of up to K S rows. Thread t holds K rows of column t % L, from row K (t / L) on, so that
   a warp reads 32 columns of one row, or fewer columns of several rows. */
#include "trid/interleaved.h"
#include "cuda_check.h"

#include <stdio.h>

enum { K = 8, L = 32, S = 8 };

/* Solves the columns of a grid of n rows and `width` columns, each of which is a system. a, b, c, d and x have the
   layout of the grid. failed[i] receives the status of column i if that is not 0; before the launch it must be
   larger than any status. */
__global__ void __launch_bounds__(L *S) solve_columns(int n, int width, const float *a, const float *b, const float *c,
                                                      const float *d, float *x, int *failed)
{
    __shared__ float shared[TRID_BLOCK_INTERLEAVED_LEN_F32(L, S)];
    float ra[K], rb[K], rc[K], rd[K];
    int column = L * (int)blockIdx.x + (int)threadIdx.x % L, first = K * ((int)threadIdx.x / L);
    int rows = column < width ? n : 0; /* columns beyond the grid have none */
    for (int j = 0; j < K; j++) {
        size_t at = (size_t)(first + j) * width + column;
        if (first + j < rows) ra[j] = a[at], rb[j] = b[at], rc[j] = c[at], rd[j] = d[at];
    }
    int status = trid_block_interleaved(K, L, S, rows, ra, rb, rc, rd, shared);
    if (status != 0) atomicMin(&failed[column], status); /* what this thread saw of its column */
    for (int j = 0; j < K; j++)
        if (first + j < rows) x[(size_t)(first + j) * width + column] = rd[j];
}

int main(void)
{
    enum { N = 60, WIDTH = 100, NONE = 0x7fffffff, SICK = 41, SICK_ROW = 20 };
    static float grid[5][N * WIDTH], *device[5];
    static int failed[WIDTH], *device_failed;
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < WIDTH; i++) {
            int at = j * WIDTH + i;
            grid[0][at] = grid[2][at] = -1;
            grid[1][at] = j == SICK_ROW && i == SICK ? 0 : 2.5f + 0.01f * (float)i;
            grid[3][at] = (float)((i + j) % 7);
        }
    }
    grid[0][SICK_ROW * WIDTH + SICK] = grid[2][SICK_ROW * WIDTH + SICK] = 0; /* a row that says 0 = d */
    for (int i = 0; i < WIDTH; i++) failed[i] = NONE;
    for (int k = 0; k < 5; k++) check(cudaMalloc((void **)&device[k], sizeof grid[k]));
    for (int k = 0; k < 4; k++) check(cudaMemcpy(device[k], grid[k], sizeof grid[k], cudaMemcpyHostToDevice));
    check(cudaMalloc((void **)&device_failed, sizeof failed));
    check(cudaMemcpy(device_failed, failed, sizeof failed, cudaMemcpyHostToDevice));
    float *const *g = device;
    solve_columns<<<(WIDTH + L - 1) / L, L * S>>>(N, WIDTH, g[0], g[1], g[2], g[3], g[4], device_failed);
    check(cudaGetLastError());
    check(cudaMemcpy(grid[4], device[4], sizeof grid[4], cudaMemcpyDeviceToHost));
    check(cudaMemcpy(failed, device_failed, sizeof failed, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 5; k++) check(cudaFree(device[k]));
    check(cudaFree(device_failed));

    int wrong = 0;
    double worst = 0;
    for (int i = 0; i < WIDTH; i++) {
        if (i == SICK) {
            printf("column %d: row %d: %s\n", i, failed[i] - 1, trid_status_string(failed[i]));
            wrong += failed[i] != 1 + SICK_ROW;
            continue;
        }
        float column[5][N];
        for (int k = 0; k < 5; k++)
            for (int j = 0; j < N; j++) column[k][j] = grid[k][j * WIDTH + i];
        double r = trid_host_residual_f32(N, column[0], column[1], column[2], column[3], column[4]);
        if (!(r <= worst)) worst = r;
        wrong += failed[i] != NONE || !(r <= 1e-6);
    }
    printf("%d columns of %d rows, largest residual of the others %.2g\n", WIDTH, N, worst);
    return wrong != 0;
}
