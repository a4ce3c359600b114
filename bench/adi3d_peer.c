/* adi3d_peer.c - the model of examples/adi3d_heston_hw.cu as a function for bench/adi3d_peer.py.
   MIT licence, see LICENSE. */
#define main example_main
#include "examples/adi3d_heston_hw.cu"
#undef main

/* Returns the price of the example's call with another strike on a grid; NaN if the solver fails. */
double price(double strike, int nx, int ny, int nz, int steps, int halves, int workers, int single);
double price(double strike, int nx, int ny, int nz, int steps, int halves, int workers, int single)
{
    const heston_hw_parameters parameters = {strike, 2, 0.04, 0.3, -0.6, 1, 0.05, 0.02};
    const fd_axis axes[3] = {{0, 6 * strike, nx, 1, {strike}, {0.2 * strike}, {FD_MIDWAY}},
                             {0, 1, ny, 1, {0.04}, {0.1}, {FD_ON_NODE}},
                             {-0.15, 0.25, nz, 1, {0.03}, {0.05}, {FD_ON_NODE}}};
    const double theta = fd_scheme_theta(FD_HUNDSDORFER_VERWER, 3, 1), spot[3] = {100, 0.04, 0.03};
    const fd_times times = {1, steps, FD_EQUAL, 1, FD_THETA, theta, halves, 0, NULL, NULL};
    fd_problem problem;
    fd_values values;
    fd_status status;
    memset(&problem, 0, sizeof problem);
    for (int d = 0; d < 3; d++) problem.axis[d] = axes[d];
    problem.face[1][0] = FD_DEGENERATE;
    problem.times = times, problem.scheme = FD_HUNDSDORFER_VERWER, problem.spot = spot;
    problem.finals = FD_TOLD, problem.kinks = 1, problem.kink[0] = strike;
    const fd_batch batch = {1, {nx, ny, nz}, steps + halves, 0, 1, &problem, &status, &values, NULL, {NULL}, 0};
    const size_t bytes = single ? heston_hw_host_bytes_f32(&batch, workers) : heston_hw_host_bytes_f64(&batch, workers);
    void *memory = malloc(bytes);
    int what = FD_NO_ROOM;
    if (memory)
        what = single ? heston_hw_host_f32(&batch, &parameters, workers, memory, bytes)
                      : heston_hw_host_f64(&batch, &parameters, workers, memory, bytes);
    free(memory);
    return what || status.what ? NAN : values.value;
}
