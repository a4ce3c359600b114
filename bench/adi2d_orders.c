/* adi2d_orders.c - the errors of pde/adi2d.h's marches under refinement, and the orders that follow from them.
   MIT licence, see LICENSE.

       adi2d_orders [--csv FILE]

   The speed of the machine does not matter here, and its arithmetic affects only the last digits that are printed.
   tests/test_adi2d_orders.c asserts the same orders. */
#include "../tests/adi2d_orders.h"

#include "../examples/heston_model.h"

#include "orders.h"

static void row(const char *part, const char *what, const char *option, const char *size, double coarse, double fine)
{
    orders_row(part, what, option, size, coarse, fine, "");
}

static const char *const scheme_name[] = {"Douglas", "Craig-Sneyd", "Modified Craig-Sneyd", "Hundsdorfer-Verwer"};

static void powers(void)
{
    static const char *const when_name[] = {"both ends", "middle", "new end"};
    for (int scheme = FD_DOUGLAS; scheme <= FD_HUNDSDORFER_VERWER; scheme++)
        for (int mixed = 0; mixed < 2; mixed++)
            for (int when = FD_BOTH_ENDS; when <= FD_NEW_END; when++) {
                char option[64];
                snprintf(option, sizeof option, "%s mixed term; coefficients of %s", mixed ? "with" : "no",
                         when_name[when]);
                row("time", scheme_name[scheme], option, "80",
                    orders_powers(24, 80, scheme, when, 4, 2, 0.7 * mixed, 0),
                    orders_powers(24, 160, scheme, when, 4, 2, 0.7 * mixed, 0));
            }
    for (int n = 16; n <= 64; n *= 2) {
        char size[16];
        snprintf(size, sizeof size, "%d x %d", n, n);
        row("space", scheme_name[FD_HUNDSDORFER_VERWER], "400 steps", size,
            orders_powers(n, 400, FD_HUNDSDORFER_VERWER, FD_MIDDLE, 4, 3.5, 0.7, 0),
            orders_powers(2 * n, 400, FD_HUNDSDORFER_VERWER, FD_MIDDLE, 4, 3.5, 0.7, 0));
    }
}

/* Returns the relative error of a Heston call, S = K = 100, v0 = mean = 0.04, kappa = 1.5, sigma = 0.3, rho = -0.9,
   r = 0.025, T = 1, on nx by ny points. */
static double heston_error(int nx, int ny, int steps, int scheme, int single)
{
    const fd_axis price = {0, 300, nx, 1, {100, 0, 0}, {10, 0, 0}, {FD_MIDWAY, 0, 0}};
    const fd_axis variance = {0, 0.5, ny, 1, {0.04, 0, 0}, {0.2, 0, 0}, {FD_ON_NODE, 0, 0}};
    const fd_times times = {1, steps, FD_EQUAL, 1, FD_THETA, fd_scheme_theta(scheme, 2, 1), 4, 0, NULL, NULL};
    const heston_parameters parameters = {100, 1.5, 0.04, 0.3, -0.9, 0.025, 0, 0};
    const double spot[2] = {100, 0.04}, exact = 8.894869360054; /* by the characteristic function */
    fd_problem problem;
    fd_status status = fd_status_of(-99, 0, 0, 0, 0, 0, 0); /* what no call leaves */
    fd_values values;
    memset(&problem, 0, sizeof problem);
    problem.axis[0] = price, problem.axis[1] = variance, problem.face[1][0] = FD_DEGENERATE;
    problem.times = times, problem.scheme = scheme, problem.finals = FD_AVERAGED_X;
    problem.spot = spot;
    const fd_batch batch = {1, {nx, ny}, steps + 4, 0, 1, &problem, &status, &values, NULL, {NULL}, ADI2D_TWO_STAGES};
    const size_t bytes = single ? heston_host_bytes_f32(&batch, 1) : heston_host_bytes_f64(&batch, 1);
    void *work = orders_memory(bytes);
    int wrong = single ? heston_host_f32(&batch, &parameters, 1, work, bytes)
                       : heston_host_f64(&batch, &parameters, 1, work, bytes);
    free(work);
    if (wrong || status.what) fprintf(stderr, "%s\n", adi2d_status_string(status.what)), exit(1);
    return fabs(values.value / exact - 1);
}

static void heston(void)
{
    for (int scheme = FD_DOUGLAS; scheme <= FD_HUNDSDORFER_VERWER; scheme++)
        for (int single = 0; single < 2; single++)
            row("heston", scheme_name[scheme], single ? "single precision" : "double precision", "128 x 64 x 32",
                heston_error(128, 64, 32, scheme, single), heston_error(256, 128, 64, scheme, single));
}

int main(int argc, char **argv)
{
    orders_open(argc, argv, "adi2d_orders");
    orders_line("part,what,option,size,error,error_of_twice,order\n");
    powers();
    heston();
    return orders_close();
}
