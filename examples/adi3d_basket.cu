/* adi3d_basket.cu - three correlated assets: a European and an American put on the arithmetic average, and the values
   on a slice of the grid.
   MIT licence, see LICENSE.

       adi3d_basket [points along an axis [file for the slice, as CSV]]

   The same file on a GPU and without one:
       nvcc -std=c++17 -O3 -I. -o adi3d_basket examples/adi3d_basket.cu
       gcc -std=c11 -O3 -march=native -fopenmp -I. -x c -o adi3d_basket examples/adi3d_basket.cu -lm */
#include "pde/adi3d.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model: V_t + sum r x_i V_i + sum (s_i x_i)^2 / 2 V_ii + sum rho_ij s_i s_j x_i x_j V_ij = r V ----------- */

typedef struct {
    double volatility[3], correlation[3], rate, strike; /* correlation: of x and y, x and z, y and z */
} basket_parameters;

enum {
    basket_numbers_of_x = 2,
    basket_numbers_of_y = 2,
    basket_numbers_of_z = 2,
    basket_numbers_of_t = 4,
    basket_mixed = 1 + 2 + 4,
    basket_changes = 0,
    basket_fitting = FD_CENTRAL
};

ADI3D_HD void basket_of_x(const basket_parameters *p, double x, double *number)
{
    number[0] = p->rate * x, number[1] = p->volatility[0] * x / sqrt(2.0);
}
ADI3D_HD void basket_of_y(const basket_parameters *p, double y, double *number)
{
    number[0] = p->rate * y, number[1] = p->volatility[1] * y / sqrt(2.0);
}
ADI3D_HD void basket_of_z(const basket_parameters *p, double z, double *number)
{
    number[0] = p->rate * z, number[1] = p->volatility[2] * z / sqrt(2.0);
}
ADI3D_HD void basket_of_t(const basket_parameters *p, double t, double *number)
{
    (void)t;
    for (int d = 0; d < 3; d++) number[d] = 2 * p->correlation[d];
    number[3] = p->rate;
}
ADI3D_TERMS(basket, terms->drift[0] = x[0]; terms->drift[1] = y[0]; terms->drift[2] = z[0]; terms->volatility[0] = x[1];
            terms->volatility[1] = y[1]; terms->volatility[2] = z[1]; terms->beta[0] = t[0]; terms->beta[1] = t[1];
            terms->beta[2] = t[2]; terms->kill = t[3];)

ADI3D_HD double basket_payoff(const double *at, const void *parameters)
{
    const basket_parameters *p = (const basket_parameters *)parameters;
    double gain = p->strike - (at[0] + at[1] + at[2]) / 3;
    return gain < 0 ? 0 : gain;
}

#define ADI3D_INDEPENDENT 7 /* each price feels itself alone: one matrix an axis */
#define ADI3D_MODEL basket
#include "pde/adi3d.h"

/* ---- the program ------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 96;
#ifdef SIMT_EMULATOR
    if (argc < 2) n = 12, puts("under the emulator, which is slow: 12 points an axis instead of 96");
#endif
    const double strike = 100;
    const basket_parameters parameters = {{0.2, 0.25, 0.3}, {0.4, 0.3, 0.5}, 0.05, strike};
    const fd_axis axis = {0, 4 * strike, n, 1, {strike}, {0.3 * strike}, {FD_MIDWAY}};
    const fd_times times = {1, 50, FD_EQUAL, 1, FD_THETA, 0, 4, 0, NULL, NULL};
    adi3d_problem problem;
    memset(&problem, 0, sizeof problem); /* all faces FD_LINEAR */
    for (int d = 0; d < 3; d++) problem.axis[d] = axis, problem.spot[d] = strike;
    problem.times = times, problem.scheme = FD_HUNDSDORFER_VERWER, problem.finals = FD_AVERAGED_X;

    adi3d_values values;
    adi3d_result result;
    memset(&result, 0, sizeof result);
    const size_t most = n < 4 ? 4 : (size_t)n;
    double *grid = (double *)malloc(most * most * most * sizeof *grid), european = 0, *x[3];
    result.values = &values, result.grid = grid;
    for (int d = 0; d < 3; d++) result.coordinates[d] = x[d] = (double *)malloc(most * sizeof *x[d]);
    if (n < 4 || !grid || !x[0] || !x[1] || !x[2]) return fprintf(stderr, "no room for %d points an axis\n", n), 1;
    for (problem.exercise = FD_EUROPEAN; problem.exercise <= FD_AMERICAN; problem.exercise++) {
        const size_t bytes = basket_bytes_f64(&problem);
        void *memory = adi3d_allocate(bytes); /* null where there is not so much: FD_NO_ROOM */
        const int what = basket_solve_f64(&problem, &parameters, memory, bytes, &result);
        adi3d_free(memory);
        if (what) return fprintf(stderr, "%s\n", fd_status_string(what)), 1;
        printf("%s put: %.6f, delta %.6f %.6f %.6f, gamma of the first two %.6f\n",
               problem.exercise ? "American" : "European", values.value, values.dx, values.dy, values.dz, values.dxy);
        if (!problem.exercise) european = values.value;
    }

    /* The American values where the third asset is next to the strike. */
    FILE *file = argc > 2 ? fopen(argv[2], "w") : NULL;
    int k = 0;
    while (x[2][k] < strike) k++;
    if (file) fprintf(file, "x,y,value\n");
    for (int at = 0; at < n * n && file; at++)
        fprintf(file, "%.8g,%.8g,%.8g\n", x[0][at % n], x[1][at / n], grid[at + n * n * k]);
    if (file) fclose(file);
    free(grid), free(x[0]), free(x[1]), free(x[2]);
    return !(values.value > european); /* the right to exercise early is worth something */
}
