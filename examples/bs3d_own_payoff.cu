/* bs3d_own_payoff.cu - a payoff of your own, put into the grid by a kernel of your own: the option to exchange assets.
   MIT licence, see LICENSE.

   At maturity the holder may give asset 2 for asset 1, which pays max(S1 - S2, 0). Margrabe (1978) gives the closed
   form. */
#include "bs3d.h"
#include "cuda_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Writes the final values where BS3D_GIVEN expects them: value (i, j, k) at [i + pitch (j + ny k)] of work. A
   thread writes one point, a block one row. The march itself sets the elements after the last point of each row. */
__global__ void exchange(bs3d_problem o, float *u)
{
    int i = (int)threadIdx.x, j = (int)blockIdx.x, k = (int)blockIdx.y;
    double s1 = i * o.top[0] / (o.points[0] - 1), s2 = j * o.top[1] / (o.points[1] - 1);
    double gain = s1 - s2;
    if (i < o.points[0])
        u[i + (long long)bs3d_pitch_f32(o.points[0]) * (j + o.points[1] * k)] = (float)(gain < 0 ? 0 : gain);
}

static double normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* Returns the closed form: an option on the ratio of the two prices, with the volatility of the difference
   of their returns. */
static double closed_form(const bs3d_problem *o)
{
    double a = o->volatility[0], b = o->volatility[1];
    double v = sqrt((a * a + b * b - 2 * o->correlation[0] * a * b) * o->maturity);
    double s1 = o->spot[0] * exp(-o->dividend[0] * o->maturity), s2 = o->spot[1] * exp(-o->dividend[1] * o->maturity);
    double d = log(s1 / s2) / v + v / 2;
    return s1 * normal(d) - s2 * normal(d - v);
}

int main(void)
{
    bs3d_problem option = {{100, 95, 100},  /* spots */
                           {250, 250, 200}, /* tops of the grid */
                           {0.3, 0.2, 0.2}, /* volatilities */
                           {0.01, 0.03, 0}, /* dividend yields */
                           {0.4, 0, 0},     /* correlations: the third asset does not matter */
                           100,             /* strike: not used by this payoff, but it must be positive */
                           0.05,            /* rate */
                           1,               /* maturity */
                           {101, 101, 4},   /* points: four are enough for the third asset */
                           100,             /* time steps */
                           BS3D_GIVEN,
                           BS3D_CALL};
    bs3d_result result;
    void *work;
    check(cudaMalloc(&work, bs3d_work_bytes_f32(&option)));
    const dim3 rows((unsigned)option.points[1], (unsigned)option.points[2]);
    exchange<<<rows, 128>>>(option, (float *)work); /* more threads than a row has points */
    check(cudaGetLastError());
    int status = bs3d_implicit2_f32(&option, work, &result, 0);
    check(cudaStreamSynchronize(0));
    if (status == BS3D_OK) status = result.status;
    if (status != BS3D_OK) fprintf(stderr, "%s\n", bs3d_status_string(status)), exit(1);
    check(cudaFree(work));
    double exact = closed_form(&option);
    printf("price %.4f, closed form %.4f; deltas %.4f %.4f, theta %.4f\n", result.price, exact, result.delta[0],
           result.delta[1], result.theta);
    return !(fabs(result.price - exact) <= 0.005 * exact); /* the error of this grid and these steps */
}
