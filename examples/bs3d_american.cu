/* bs3d_american.cu - an American put on the arithmetic average of three assets, and the value of early exercise.
   MIT licence, see LICENSE.

       bs3d_american [POINTS]         points on each axis, by default 24 */
#include "bs3d.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bs3d_result price(const bs3d_problem *option, void *work)
{
    bs3d_result result;
    int status = bs3d_implicit2_f64(option, work, &result, 0);
    check(cudaStreamSynchronize(0));
    if (status == BS3D_OK) status = result.status;
    if (status != BS3D_OK) fprintf(stderr, "%s\n", bs3d_status_string(status)), exit(1);
    return result;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 24;
    bs3d_problem option = {{100, 100, 100},  /* spots */
                           {250, 250, 250},  /* tops of the grid */
                           {0.2, 0.3, 0.25}, /* volatilities */
                           {0, 0, 0},        /* dividend yields */
                           {0.5, 0.3, 0.4},  /* correlations of assets 1 and 2, 1 and 3, 2 and 3 */
                           100,              /* strike */
                           0.08,             /* rate */
                           1,                /* maturity */
                           {n, n, n},        /* points */
                           20,               /* time steps */
                           BS3D_ARITHMETIC,
                           BS3D_PUT};
    void *work;
    check(cudaMalloc(&work, bs3d_work_bytes_f64(&option)));
    bs3d_result european = price(&option, work);
    option.flags |= BS3D_AMERICAN;
    bs3d_result american = price(&option, work);
    printf("European %.4f, American %.4f; thetas %.3f and %.3f\n", european.price, american.price, european.theta,
           american.theta);

    /* Deep in the money the option is exercised: its price is the payoff. */
    for (int m = 0; m < 3; m++) option.spot[m] = 50;
    bs3d_result deep = price(&option, work);
    printf("at spots of 50: price %.4f, deltas %.4f %.4f %.4f, theta %.3f\n", deep.price, deep.delta[0], deep.delta[1],
           deep.delta[2], deep.theta);
    check(cudaFree(work));
    return !(american.price > european.price && fabs(deep.price - 50) < 1e-9 && deep.theta == 0);
}
