/* land_mask.cu - columns of different depth in one launch: vertical mixing in an ocean with land.
   MIT licence, see LICENSE.

   In this folder:

       nvcc -O3 -arch=native -I.. -o land_mask land_mask.cu && ./land_mask

   A field t[level][j][i] has the same number of levels everywhere. The first depth[j][i] levels of column (i, j) are
   water; on land there are none. Below the water a row is 1 x = d, so the value there, here -999, stays, and does not
   affect the water above. Rows are made in registers from the depth, so no matrix is stored. Without sources a step of
   mixing keeps the heat of each column, which the program checks. Exits with 0 if all is well, 3 without a GPU. */
#include "trid/batch.h"
#include "cuda_check.h"

#include <stdio.h>
#include <vector>

struct mixing {
    const int *depth;
    float rate; /* diffusivity * time step / spacing^2 */
    template <class number>
    __device__ void operator()(long long column, int level, number *a, number *b, number *c) const
    {
        const int wet = depth[column];
        *a = level > 0 && level < wet ? -rate : 0;
        *c = level + 1 < wet ? -rate : 0;
        *b = 1 - *a - *c;
    }
};

int main(void)
{
    const int nx = 30, ny = 20, levels = 40, columns = nx * ny;
    const float dry = -999;
    std::vector<int> depth(columns);
    std::vector<float> before((size_t)levels * columns), after(before.size());
    int land = 0;
    for (int column = 0; column < columns; column++) {
        const int i = column % nx, j = column / nx, island = (i - 15) * (i - 15) + (j - 8) * (j - 8);
        land += !(depth[column] = island < levels ? island - island % 5 : levels);
        for (int level = 0; level < levels; level++)
            before[(size_t)level * columns + column] = level < depth[column] ? 4 + 16.0f / (1 + level) : dry;
    }

    int *device_depth;
    float *t;
    check(cudaMalloc((void **)&device_depth, columns * sizeof *device_depth));
    check(cudaMalloc((void **)&t, before.size() * sizeof *t));
    check(cudaMemcpy(device_depth, depth.data(), columns * sizeof *device_depth, cudaMemcpyHostToDevice));
    check(cudaMemcpy(t, before.data(), before.size() * sizeof *t, cudaMemcpyHostToDevice));

    const trid_lines vertical = trid_lines_axis(nx, ny, levels, 2);
    const mixing rows = {device_depth, 5};
    const int status = trid_batch_solve_rows_f32<levels>(vertical, rows, t, t, NULL, 0); /* in place */
    if (status) return puts(trid_batch_status_string(status)), 1;
    check(cudaMemcpy(after.data(), t, after.size() * sizeof *t, cudaMemcpyDeviceToHost));

    double worst = 0;
    int changed = 0;
    for (int column = 0; column < columns; column++) {
        double heat = 0, lost = 0;
        for (int level = 0; level < levels; level++) {
            const size_t at = (size_t)level * columns + column;
            if (level >= depth[column])
                changed += after[at] != dry;
            else
                heat += before[at], lost += before[at] - after[at];
        }
        if (depth[column] && !(fabs(lost) <= worst * heat)) worst = fabs(lost) / heat;
    }
    printf("%d columns, %d of them land: %d numbers changed below the bottom, heat is %s\n", columns, land, changed,
           worst < 1e-6 ? "kept" : "not kept");
    check(cudaFree(device_depth));
    check(cudaFree(t));
    return worst < 1e-6 && !changed ? 0 : 1;
}
