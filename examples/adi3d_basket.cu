/* adi3d_basket.cu - three correlated assets: a European and an American put on the arithmetic average, and the values
   on a slice of the grid.
   MIT licence, see LICENSE.

       adi3d_basket [points along an axis [file for the slice, as CSV]]

   The same file compiles for a GPU and for a CPU:
       nvcc -std=c++17 -O3 -I. -o adi3d_basket examples/adi3d_basket.cu
       gcc -std=c11 -O3 -march=native -fopenmp -I. -x c -o adi3d_basket examples/adi3d_basket.cu -lm */
#include "pde/adi3d.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model: V_t + sum r x_i V_i + sum (s_i x_i)^2 / 2 V_ii + sum rho_ij s_i s_j x_i x_j V_ij = r V ----------- */

typedef struct {
    double volatility[3], correlation[3], rate, strike; /* correlations of x and y, x and z, y and z */
} basket_parameters;

FD_NUMBERS(basket, x, diffusion)
FD_HD void basket_of_x(const basket_parameters *p, double at, basket_x_f64 *x)
{
    x->diffusion = p->volatility[0] * p->volatility[0] * at * at / 2;
}
FD_NUMBERS(basket, y, diffusion)
FD_HD void basket_of_y(const basket_parameters *p, double at, basket_y_f64 *y)
{
    y->diffusion = p->volatility[1] * p->volatility[1] * at * at / 2;
}
FD_NUMBERS(basket, z, diffusion)
FD_HD void basket_of_z(const basket_parameters *p, double at, basket_z_f64 *z)
{
    z->diffusion = p->volatility[2] * p->volatility[2] * at * at / 2;
}
FD_NUMBERS(basket, t, rate, mixed[3])
FD_HD void basket_of_t(const basket_parameters *p, double at, basket_t_f64 *t)
{
    const double *s = p->volatility, *rho = p->correlation;
    (void)at, t->rate = p->rate;
    t->mixed[0] = rho[0] * s[0] * s[1], t->mixed[1] = rho[1] * s[0] * s[2], t->mixed[2] = rho[2] * s[1] * s[2];
}
FD_TERMS(3, basket, terms->drift[0] = t->rate * x->at; terms->drift[1] = t->rate * y->at;
         terms->drift[2] = t->rate * z->at; terms->diffusion[0] = x->diffusion; terms->diffusion[1] = y->diffusion;
         terms->diffusion[2] = z->diffusion; terms->mixed[0] = t->mixed[0] * y->at * x->at;
         terms->mixed[1] = t->mixed[1] * z->at * x->at; terms->mixed[2] = t->mixed[2] * z->at * y->at;
         terms->kill = t->rate;)
enum { basket_fitting = FD_CENTRAL };

FD_HD double basket_payoff(const basket_parameters *p, const double *at)
{
    double gain = p->strike - (at[0] + at[1] + at[2]) / 3;
    return gain < 0 ? 0 : gain;
}

#define FD_MODEL_MIXED 7
#define FD_MODEL_STEADY 7      /* no term depends on time */
#define FD_MODEL_INDEPENDENT 7 /* each axis is independent of the others: one matrix for all its lines */
#define FD_MODEL basket
#include "pde/adi3d.h"

/* ---- the program ------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 96;
#ifdef SIMT_EMULATOR
    if (argc < 2) n = 12, puts("under the emulator, which is slow: 12 points an axis instead of 96");
#endif
    const double strike = 100, spot[3] = {strike, strike, strike};
    const basket_parameters parameters = {{0.2, 0.25, 0.3}, {0.4, 0.3, 0.5}, 0.05, strike};
    const fd_axis axis = {0, 4 * strike, n, 1, {strike}, {0.3 * strike}, {FD_MIDWAY}};
    const fd_times times = {1, 50, FD_EQUAL, 1, FD_THETA, 0, 4, 0, NULL, NULL};
    fd_problem problem;
    memset(&problem, 0, sizeof problem); /* all faces FD_LINEAR */
    for (int d = 0; d < 3; d++) problem.axis[d] = axis;
    problem.times = times, problem.scheme = FD_HUNDSDORFER_VERWER, problem.finals = FD_AVERAGED_X, problem.spot = spot;

    fd_status status;
    fd_values values;
    if (n < 4) return fprintf(stderr, "fewer than 4 points an axis\n"), 1;
    const size_t most = (size_t)n;
    double *grid = (double *)malloc(most * most * most * sizeof *grid), european = 0, *x[3];
    for (int d = 0; d < 3; d++) x[d] = (double *)malloc(most * sizeof *x[d]);
    if (!grid || !x[0] || !x[1] || !x[2]) return fprintf(stderr, "no room for %d points an axis\n", n), 1;
    const fd_batch batch = {1,       {n, n, n}, times.steps + times.halves, 0, 1, &problem, &status,
                            &values, grid,      {x[0], x[1], x[2]},         0};
    for (problem.exercise = FD_EUROPEAN; problem.exercise <= FD_AMERICAN; problem.exercise++) {
        const size_t bytes = basket_bytes_f64(&batch);
        void *memory = adi3d_allocate(bytes); /* null if there is too little memory */
        int what = memory || !bytes ? basket_solve_f64(&batch, &parameters, memory, bytes) : FD_NO_ROOM;
        adi3d_free(memory);
        if (!what) what = status.what; /* the function returned no error; was the problem solved? */
        if (what) return fprintf(stderr, "%s\n", fd_status_string(what)), 1;
        printf("%s put: %.6f, delta %.6f %.6f %.6f, gamma of the first two %.6f\n",
               problem.exercise ? "American" : "European", values.value, values.first[0], values.first[1],
               values.first[2], values.mixed[0]);
        if (!problem.exercise) european = values.value;
    }

    /* Writes the American values on the first plane where the third asset is at or above the strike. */
    FILE *file = argc > 2 ? fopen(argv[2], "w") : NULL;
    if (argc > 2 && !file) return perror(argv[2]), 1;
    int k = 0;
    while (x[2][k] < strike) k++;
    if (file) fprintf(file, "x,y,value\n");
    for (int at = 0; at < n * n && file; at++)
        fprintf(file, "%.8g,%.8g,%.8g\n", x[0][at % n], x[1][at / n], grid[at + n * n * k]);
    if (file && fclose(file)) return perror(argv[2]), 1;
    free(grid), free(x[0]), free(x[1]), free(x[2]);
    return !(values.value > european); /* early exercise is worth something */
}
