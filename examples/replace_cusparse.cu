/* replace_cusparse.cu - from cusparseSgtsv2StridedBatch to trid_batch_solve.
   MIT licence, see LICENSE.

   The program below does without these calls:

       cusparseCreate(&handle);
       cusparseSgtsv2StridedBatch_bufferSizeExt(handle, n, a, b, c, x, systems, n, &bytes);
       cudaMalloc(&buffer, bytes);
       cudaMemcpy(x, d, n * systems * sizeof *x, cudaMemcpyDeviceToDevice); // it solves in place
       cusparseSgtsv2StridedBatch(handle, n, a, b, c, x, systems, n, buffer);

   It has no handle, and needs no buffer for systems of up to 1024 rows. d stays unchanged, unless x is the same array.
   a[0] and c[n-1] of a system need not be zero. For interleaved systems (cusparseSgtsvInterleavedBatch) pass
   trid_lines_interleaved; a, b and c are not overwritten. */
#include "trid/batch.h"
#include "cuda_check.h"

#include <stdio.h>
#include <vector>

int main()
{
    const int n = 250, systems = 300;
    const size_t rows = (size_t)n * systems, bytes = rows * sizeof(float);
    std::vector<float> ha(rows, -1), hb(rows, 2.5f), hc(rows, -1), hd(rows, 1), hx(rows);
    float *a, *b, *c, *d, *x;
    for (float **p : {&a, &b, &c, &d, &x}) check(cudaMalloc((void **)p, bytes));
    check(cudaMemcpy(a, ha.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(b, hb.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(c, hc.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(d, hd.data(), bytes, cudaMemcpyHostToDevice));

    int status = trid_batch_solve_f32(trid_lines_contiguous(n, systems), a, b, c, d, x, NULL, 0);
    if (status) return puts(trid_batch_status_string(status)), 1;

    check(cudaMemcpy(hx.data(), x, bytes, cudaMemcpyDeviceToHost));
    double worst = 0;
    for (size_t at = 0; at < rows; at += n) {
        double r = trid_host_residual_f32(n, &ha[at], &hb[at], &hc[at], &hd[at], &hx[at]);
        if (!(r <= worst)) worst = r;
    }
    printf("%d systems of %d rows, residual %.1e\n", systems, n, worst);
    for (float *p : {a, b, c, d, x}) check(cudaFree(p));
    return worst < 1e-6 ? 0 : 1;
}
