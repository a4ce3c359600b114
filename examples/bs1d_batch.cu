/* bs1d_batch.cu - prices a batch of different options, one of them invalid.
   MIT licence, see LICENSE. */
#include "bs1d.h"
#include "cuda_check.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    /* spot, strike, rate, dividend, volatility, maturity, top of the grid, time steps, flags */
    static const bs1d_option_f32 options[] = {
        {100, 100, 0.05f, 0.00f, 0.20f, 1.0f, 400, 200, BS1D_CALL | BS1D_AVERAGED | BS1D_CRANK_NICOLSON},
        {100, 100, 0.05f, 0.00f, 0.20f, 1.0f, 400, 200, BS1D_PUT | BS1D_AVERAGED | BS1D_CRANK_NICOLSON},
        {100, 100, 0.05f, 0.00f, 0.20f, 1.0f, 400, 400, BS1D_PUT | BS1D_AMERICAN},
        {95, 110, 0.02f, 0.03f, 0.35f, 0.5f, 440, 100, BS1D_CALL | BS1D_AMERICAN},
        {100, 100, 0.05f, 0.00f, -0.20f, 1.0f, 400, 200, BS1D_CALL},
    };
    enum { COUNT = sizeof options / sizeof *options };
    bs1d_result_f32 results[COUNT], *device_results;
    bs1d_option_f32 *device_options;
    check(cudaMalloc((void **)&device_options, sizeof options));
    check(cudaMalloc((void **)&device_results, sizeof results));
    check(cudaMemcpy(device_options, options, sizeof options, cudaMemcpyHostToDevice));
    int status = bs1d_implicit4_f32(COUNT, 512, device_options, device_results, NULL, 0);
    if (status != BS1D_OK) fprintf(stderr, "%s\n", bs1d_status_string(status)), exit(1);
    check(cudaMemcpy(results, device_results, sizeof results, cudaMemcpyDeviceToHost));
    check(cudaFree(device_options));
    check(cudaFree(device_results));

    int good = 0;
    for (int i = 0; i < COUNT; i++) {
        bs1d_result_f32 r = results[i];
        if (r.status == BS1D_OK)
            printf("%d: price %.4f, delta %.4f, gamma %.5f, theta %.4f\n", i, (double)r.price, (double)r.delta,
                   (double)r.gamma, (double)r.theta);
        else
            printf("%d: %s\n", i, bs1d_status_string(r.status));
        good += r.status == BS1D_OK;
    }
    return good != COUNT - 1;
}
