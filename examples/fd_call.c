/* fd_call.c - a European call by finite differences, with pde/fd.h and trid.h: points that crowd around the strike,
   the payoff averaged over the cell of its kink, Crank-Nicolson after a Rannacher start, price and Greeks.
   MIT licence, see LICENSE.

       gcc -std=c11 -I.. -o fd_call fd_call.c -lm && ./fd_call */
#include "pde/fd.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = 201, STEPS = 50, MOST_STEPS = STEPS + 4 };

static const double STRIKE = 100, SPOT = 100, RATE = 0.05, VOLATILITY = 0.2, MATURITY = 1;

static double payoff(const double *s, const void *strike)
{
    double gain = s[0] - *(const double *)strike;
    return gain < 0 ? 0 : gain;
}

static double normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

int main(void)
{
    static double s[POINTS], u[POINTS], a[POINTS], b[POINTS], c[POINTS], d[POINTS], work[POINTS], far[2];
    static fd_cell_f64 cell[POINTS];
    static fd_step step[MOST_STEPS];

    fd_axis axis = {0, 8 * STRIKE, POINTS, 1, {STRIKE}, {STRIKE / 5}, {FD_MIDWAY}};
    fd_times times = {MATURITY, STEPS, FD_EQUAL, 1, FD_THETA, 0.5, 4, 0, NULL, NULL};
    int face[2] = {FD_LINEAR, FD_LINEAR}, count, status = fd_axis_points(&axis, s);
    if (!status) status = fd_cells_f64(POINTS, s, face, cell, far);
    if (!status) status = fd_schedule(&times, MOST_STEPS, step, &count);
    if (status) {
        fprintf(stderr, "%s\n", fd_status_string(status));
        return 1;
    }

    for (int j = 0; j < POINTS; j++) {
        const double *const grid[1] = {s};
        const int points[1] = {POINTS};
        u[j] = fd_final_value(1, grid, points, &j, payoff, &STRIKE, 1e-9, 30);
    }
    for (int k = 0; k < count && !status; k++) {
        double dt = step[k].from - step[k].to, implicit = step[k].theta * dt;
        for (int j = 0; j < POINTS; j++) {
            double below = u[j > 0 ? j - 1 : j], above = u[j < POINTS - 1 ? j + 1 : j];
            fd_row_f64 row =
                fd_lane_row_f64(cell[j], FD_CENTRAL, RATE * s[j], VOLATILITY * VOLATILITY / 2 * s[j] * s[j]);
            fd_lane_matrix_f64(row, implicit, RATE, &a[j], &b[j], &c[j]);
            d[j] = u[j] + (dt - implicit) * (fd_lane_apply_f64(row, below, u[j], above) - RATE * u[j]);
        }
        status = trid_host_thomas_f64(POINTS, a, b, c, d, u, work);
    }

    fd_weights at;
    if (!status) status = fd_interpolate(POINTS, s, SPOT, &at);
    if (status) return 1;
    const double *price = at.value, *delta = at.slope, *gamma = at.curvature;
    const long long stride = 1;
    double root = VOLATILITY * sqrt(MATURITY);
    double d1 = (log(SPOT / STRIKE) + (RATE + VOLATILITY * VOLATILITY / 2) * MATURITY) / root;
    double exact = SPOT * normal(d1) - STRIKE * exp(-RATE * MATURITY) * normal(d1 - root);
    double got = fd_lane_value_f64(1, &price, u + at.first, &stride);
    printf("price %.6f (exact %.6f)\n", got, exact);
    printf("delta %.6f (exact %.6f)\n", fd_lane_value_f64(1, &delta, u + at.first, &stride), normal(d1));
    printf("gamma %.6f (exact %.6f)\n", fd_lane_value_f64(1, &gamma, u + at.first, &stride),
           exp(-d1 * d1 / 2) / sqrt(8 * atan(1)) / (SPOT * root));
    return !(fabs(got - exact) < 2e-3);
}
