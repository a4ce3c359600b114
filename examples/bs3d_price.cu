/* bs3d_price.cu - an option on three different assets: price, deltas, gammas; then other correlations.
   MIT licence, see LICENSE.

       bs3d_price [POINTS]         points on each axis, by default 48 */
#include "bs3d.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns whether the price is that of the host reference. */
static int as_on_host(const bs3d_problem *option, double price)
{
    bs3d_result host;
    void *work = malloc(bs3d_host_bytes_f64(option));
    if (!work) return 0;
    int status = bs3d_host_implicit_f64(option, work, &host);
    free(work);
    return status == BS3D_OK && fabs(price - host.price) <= 1e-10 * host.price;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 48;
#ifdef SIMT_EMULATOR
    if (argc < 2) n = 24, puts("under the emulator, which is slow: 24 points an axis instead of 48");
#endif
    bs3d_problem option = {{100, 95, 105},   /* spots */
                           {300, 300, 300},  /* tops of the grid */
                           {0.2, 0.3, 0.25}, /* volatilities */
                           {0, 0.02, 0.01},  /* dividend yields */
                           {0.5, 0.3, 0.4},  /* correlations of assets 1 and 2, 1 and 3, 2 and 3 */
                           100,              /* strike */
                           0.05,             /* rate */
                           0.5,              /* maturity */
                           {n, n, n},        /* points */
                           20,               /* time steps */
                           BS3D_MAXIMUM,
                           BS3D_CALL};
    /* The result is copied asynchronously: synchronise the stream before you read it. */
    bs3d_result result;
    void *work;
    check(cudaMalloc(&work, bs3d_work_bytes_f64(&option)));
    int status = bs3d_implicit2_f64(&option, work, &result, 0);
    check(cudaStreamSynchronize(0));
    if (status == BS3D_OK) status = result.status;
    if (status != BS3D_OK) fprintf(stderr, "%s\n", bs3d_status_string(status)), exit(1);
    printf("price %.4f, deltas %.4f %.4f %.4f, gammas %.5f %.5f %.5f\n", result.price, result.delta[0], result.delta[1],
           result.delta[2], result.gamma[0], result.gamma[1], result.gamma[2]);
    int wrong = !as_on_host(&option, result.price);

    /* The same work array serves any option with as many points. No three assets can have the last correlations. */
    static const double correlations[4][3] = {{0.9, 0.9, 0.9}, {0.5, -0.3, 0.4}, {-0.4, -0.4, -0.4}, {0.9, 0.9, -0.9}};
    for (int c = 0; c < 4; c++) {
        for (int pair = 0; pair < 3; pair++) option.correlation[pair] = correlations[c][pair];
        status = bs3d_implicit2_f64(&option, work, &result, 0);
        check(cudaStreamSynchronize(0));
        if (status == BS3D_OK) status = result.status;
        printf("correlations %4.1f %4.1f %4.1f: ", option.correlation[0], option.correlation[1], option.correlation[2]);
        if (status == BS3D_OK)
            printf("price %.4f\n", result.price);
        else
            printf("%s\n", bs3d_status_string(status));
        wrong += c < 3 ? status != BS3D_OK || !as_on_host(&option, result.price) : status != BS3D_BAD_CORRELATION;
    }
    check(cudaFree(work));
    return wrong != 0;
}
