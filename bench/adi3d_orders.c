/* adi3d_orders.c - the errors of pde/adi3d.h's marches under refinement, for known solutions and known prices, and the
   orders that follow from them.
   MIT licence, see LICENSE.

       adi3d_orders [--csv FILE]

   The speed of the machine does not matter here, and its arithmetic affects only the last digits that are printed.
   tests/test_adi3d_host.c asserts the same orders and prices. */
#include "../tests/adi3d_assets.h"
#include "../tests/adi3d_orders.h"

#include "orders.h"

static const char *const scheme_name[] = {"Douglas", "Craig-Sneyd", "Modified Craig-Sneyd", "Hundsdorfer-Verwer"};

/* Prints a row without an extrapolated value. */
static void row(const char *part, const char *what, const char *option, const char *size, double coarse, double fine)
{
    orders_row(part, what, option, size, coarse, fine, ",");
}

/* Measures errors in time, with (x y z)^2, which has no error in space. */
static void in_time(void)
{
    static const char *const when_name[] = {"both ends", "middle", "new end"};
    for (int scheme = FD_DOUGLAS; scheme <= FD_HUNDSDORFER_VERWER; scheme++)
        for (int mixed = 0; mixed < 2; mixed++)
            for (int when = FD_BOTH_ENDS; when <= FD_NEW_END; when++) {
                const double rho = mixed ? 0.6 : 0;
                char option[64];
                snprintf(option, sizeof option, "%s mixed terms; coefficients of %s", mixed ? "three" : "no",
                         when_name[when]);
                row("time", scheme_name[scheme], option, "80", orders_powers(13, 80, scheme, when, 4, 2, rho, 0),
                    orders_powers(13, 160, scheme, when, 4, 2, rho, 0));
            }
}

/* Measures errors in space, with (x y z)^3.5, in steps so short that errors in time do not matter, except in Douglas'
   scheme, which is of first order. */
static void in_space(void)
{
    static const struct {
        const char *option;
        double rho;
        int slopes;
    } kinds[] = {{"values at all faces; three mixed terms", 0.6, 0},
                 {"slopes at all faces; no mixed terms", 0, 1},
                 {"slopes at all faces; three mixed terms", 0.6, 1}};
    for (int kind = 0; kind < 3; kind++)
        for (int scheme = kind ? FD_HUNDSDORFER_VERWER : FD_DOUGLAS; scheme <= FD_HUNDSDORFER_VERWER; scheme++)
            for (int n = 17; n <= 33; n = 2 * n - 1) {
                const double rho = kinds[kind].rho;
                const int slopes = kinds[kind].slopes;
                char size[16];
                snprintf(size, sizeof size, "%d", n);
                row("space", scheme_name[scheme], kinds[kind].option, size,
                    orders_powers(n, 400, scheme, FD_MIDDLE, 4, 3.5, rho, slopes),
                    orders_powers(2 * n - 1, 400, scheme, FD_MIDDLE, 4, 3.5, rho, slopes));
            }
}

static double price(int n, int steps, int payoff)
{
    assets_parameters p;
    fd_problem q;
    fd_status status = fd_status_of(-99, 0, 0, 0, 0, 0, 0); /* what no call leaves */
    fd_values values;
    assets_problem(n, steps, payoff, &p, &q);
    const fd_batch batch = {1, {n, n, n}, steps + 4, 0, 1, &q, &status, &values, NULL, {NULL}, 0};
    const size_t bytes = assets_host_bytes_f64(&batch, 2);
    void *memory = orders_memory(bytes);
    if (assets_host_f64(&batch, &p, 2, memory, bytes) || status.what)
        fprintf(stderr, "%s\n", fd_status_string(status.what)), exit(1);
    free(memory);
    return values.value;
}

/* Measures errors relative to known prices, and those of Richardson's extrapolation from both grids. */
static void prices(void)
{
    static const char *const name[] = {"call on the geometric average", "call on the maximum", "call on the minimum",
                                       "American put on the geometric average"};
    for (int payoff = ASSETS_GEOMETRIC; payoff <= ASSETS_GEOMETRIC_PUT; payoff++) {
        const double known = assets_known[payoff];
        double coarse = price(33, 12, payoff);
        for (int n = 33, steps = 12; n <= 65; n = 2 * n - 1, steps *= 2) {
            const double fine = price(2 * n - 1, 2 * steps, payoff);
            char value[32], size[40], more[32];
            snprintf(value, sizeof value, "%.8f", known);
            snprintf(size, sizeof size, "%d points; %d steps", n, steps);
            snprintf(more, sizeof more, ",%.1e", fabs((fine + (fine - coarse) / 3) / known - 1));
            orders_row("price", name[payoff], value, size, fabs(coarse / known - 1), fabs(fine / known - 1), more);
            coarse = fine;
        }
    }
}

int main(int argc, char **argv)
{
    orders_open(argc, argv, "adi3d_orders");
    orders_line("part,what,option,size,error,error_of_twice,order,extrapolated\n");
    in_time();
    in_space();
    prices();
    return orders_close();
}
