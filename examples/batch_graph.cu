/* batch_graph.cu - a launch of trid/batch.h captured into a CUDA graph, and replayed.
   MIT licence, see LICENSE.

   Each replay takes an implicit Euler step of the heat equation in many rods: (I - r D) u' = u in place, with one
   matrix for all rods. Each replay also stores a status for each system, and counts the systems that fail in it. */
#include "trid/batch.h"
#include "cuda_check.h"

#include <stdio.h>
#include <vector>

enum { N = 100, RODS = 500, STEPS = 40 };

int main()
{
    std::vector<double> matrix(3 * N), u((size_t)N * RODS);
    for (int j = 0; j < N; j++) matrix[j] = matrix[2 * N + j] = -0.5, matrix[N + j] = 2;
    double pi = 3.14159265358979323846, decay = 2 - cos(pi / (N + 1)); /* sin is an eigenvector of the matrix */
    for (int s = 0; s < RODS; s++)
        for (int j = 0; j < N; j++) u[(size_t)s * N + j] = (1 + s) * sin(pi * (j + 1) / (N + 1));
    double *a, *x;
    unsigned long long *failed, count[2];
    int *status_of;
    cudaStream_t stream;
    check(cudaMalloc((void **)&a, matrix.size() * sizeof *a));
    check(cudaMalloc((void **)&x, u.size() * sizeof *x));
    check(cudaMalloc((void **)&failed, sizeof count));
    check(cudaMalloc((void **)&status_of, RODS * sizeof *status_of));
    check(cudaMemcpy(a, matrix.data(), matrix.size() * sizeof *a, cudaMemcpyHostToDevice));
    check(cudaMemcpy(x, u.data(), u.size() * sizeof *x, cudaMemcpyHostToDevice));
    check(cudaStreamCreate(&stream));
    trid_batch_options options = {};
    options.failed = failed;
    options.status = status_of;
    trid_lines lines = trid_lines_contiguous(N, RODS);

#ifndef SIMT_EMULATOR
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    int status = trid_batch_shared_f64(lines, a, a + N, a + 2 * N, x, x, &options, stream);
    check(cudaStreamEndCapture(stream, &graph));
    if (status) return puts(trid_batch_status_string(status)), 1;
    check(cudaGraphInstantiate(&ready, graph, 0));
    for (int step = 0; step < STEPS; step++) check(cudaGraphLaunch(ready, stream));
#else /* the emulator has no graphs: the same launches one by one */
    for (int step = 0; step < STEPS; step++) {
        int status = trid_batch_shared_f64(lines, a, a + N, a + 2 * N, x, x, &options, stream);
        if (status) return puts(trid_batch_status_string(status)), 1;
    }
#endif
    check(cudaStreamSynchronize(stream));
    std::vector<double> after(u.size());
    check(cudaMemcpy(after.data(), x, u.size() * sizeof *x, cudaMemcpyDeviceToHost));
    std::vector<int> outcome(RODS);
    check(cudaMemcpy(count, failed, sizeof count, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(outcome.data(), status_of, RODS * sizeof *status_of, cudaMemcpyDeviceToHost));
#ifndef SIMT_EMULATOR
    check(cudaGraphExecDestroy(ready));
    check(cudaGraphDestroy(graph));
#endif
    check(cudaStreamDestroy(stream));
    void *const arrays[] = {a, x, failed, status_of};
    for (void *array : arrays) check(cudaFree(array));
    for (int s = 0; s < RODS; s++)
        if (outcome[s]) printf("rod %d, row %d: %s\n", s, outcome[s] - 1, trid_status_string(outcome[s]));
    double worst = 0, scale = pow(decay, -STEPS);
    for (size_t i = 0; i < u.size(); i++) {
        double e = fabs(after[i] - scale * u[i]) / RODS; /* RODS: the largest amplitude */
        if (!(e <= worst)) worst = e;
    }
    printf("%d steps of %d rods: error %.1e, %llu systems failed\n", (int)STEPS, (int)RODS, worst, count[0]);
    return worst < 1e-12 && count[0] == 0 ? 0 : 1;
}
