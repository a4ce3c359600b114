/* locvol_problems.h - the benchmark's data sets (locvol_plain.h) as problems of its model (locvol_model.h).
   MIT licence, see LICENSE. */
#ifndef LOCVOL_PROBLEMS_H
#define LOCVOL_PROBLEMS_H

#include "locvol_model.h"
#include "locvol_plain.h"

#include <string.h>

/* Makes the problems of a data set for pde/adi2d.h. Their steps are products: batch.kind may be ADI2D_PRODUCTS.
   Needs    room for set->outer problems and as many parameters, and for the two coordinates of the spot that all
            problems share
   Returns  0, or 1 if memory is short */
static inline int locvol_problems(const locvol_set *set, fd_problem *problem, locvol_parameters *parameters,
                                  double *spot)
{
    int ix, iy;
    double *x = (double *)malloc((size_t)(set->numx + set->numy + set->numt) * sizeof *x), *y = x + set->numx;
    if (!x) return 1;
    locvol_grid(set, x, y, y + set->numy, &ix, &iy);
    for (int k = 0; k < set->outer; k++) {
        fd_problem p;
        memset(&p, 0, sizeof p);
        const double *const line[2] = {x, y};
        const int points[2] = {set->numx, set->numy}, at[2] = {ix, iy};
        for (int d = 0; d < 2; d++) {
            fd_axis axis = {line[d][0], line[d][points[d] - 1], points[d], 1, {line[d][at[d]]}, {0}, {FD_ON_NODE}};
            p.axis[d] = axis;
            p.face[d][0] = p.face[d][1] = FD_LINEAR;
            spot[d] = line[d][at[d]];
        }
        fd_times times = {locvol_t, set->numt - 1, FD_EQUAL, 1, FD_THETA, 0.5, 0, 0, NULL, NULL};
        p.times = times, p.spot = spot;
        p.scheme = FD_DOUGLAS, p.coefficients = FD_NEW_END;
        problem[k] = p;
        locvol_parameters q = {0.001 * k, locvol_beta, locvol_nu};
        parameters[k] = q;
    }
    free(x);
    return 0;
}

#endif
