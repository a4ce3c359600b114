/* fd_orders.c - the errors of pde/fd.h's formulas, faces, schemes and prices under refinement, and the orders that
   follow from them. MIT licence, see LICENSE.

       fd_orders [--csv FILE]

   The speed of the machine does not matter here, and its arithmetic affects only the last digits that are printed. */
#include "../tests/fd_cases.h"

#include "orders.h"

static void row(const char *part, const char *what, const char *option, const char *size, double coarse, double fine)
{
    orders_row(part, what, option, size, coarse, fine, ",,,");
}

static void formulas(void)
{
    for (int f = 0; f < CASE_FORMULAS; f++)
        row("formula", case_formula_name[f], "", "160", case_formula_error(f, 160), case_formula_error(f, 320));
}

static void lines(void)
{
    static const char *const face[] = {"linear", "value", "slope", "degenerate"};
    static const char *const fitting[] = {"central", "upwind", "fitted"};
    for (int kind = FD_LINEAR; kind < FD_P_FACES; kind++)
        row("face", face[kind], fitting[FD_CENTRAL], "320", case_line_error(320, FD_CENTRAL, kind, 1, 0.1),
            case_line_error(640, FD_CENTRAL, kind, 1, 0.1));
    for (int p = 0; p <= 4; p++) {
        double diffusion = pow(10, -p);
        char what[32];
        snprintf(what, sizeof what, "%g", diffusion);
        for (int k = FD_CENTRAL; k <= FD_FITTED; k++)
            row("fitting", what, fitting[k], "80", case_line_error(80, k, FD_LINEAR, 1, diffusion),
                case_line_error(160, k, FD_LINEAR, 1, diffusion));
    }
}

static const char *const scheme_name[] = {"Douglas", "Craig-Sneyd", "Modified Craig-Sneyd", "Hundsdorfer-Verwer"};

static void schemes(void)
{
    for (int which = FD_DOUGLAS; which <= FD_HUNDSDORFER_VERWER; which++)
        for (int dims = 2; dims <= 3; dims++)
            for (int mixed = 0; mixed < 2; mixed++) {
                double theta = fd_scheme_theta(which, dims, mixed);
                int steps = dims == 2 ? 160 : 80;
                fd_scheme scheme, less;
                char option[32], text[256];
                if (fd_scheme_of(which, theta, &scheme) || fd_scheme_of(which, 0.9 * theta, &less)) exit(1);
                case_split s = case_split_of(dims, dims == 2 ? 8 : 5, mixed);
                double coarse = case_march(&s, &scheme, steps, 1, NULL),
                       fine = case_march(&s, &scheme, 2 * steps, 1, NULL);
                case_split_free(&s);
                snprintf(option, sizeof option, "%d factors%s", dims, mixed ? " with mixed terms" : "");
                snprintf(text, sizeof text, "scheme,%s,%s,%d,%.1e,%.1e,%.2f,%.4f,%.3f,%.3g\n", scheme_name[which],
                         option, steps, coarse, fine, log(coarse / fine) / log(2.0), theta,
                         case_worst_amplification(&scheme, dims, mixed), case_worst_amplification(&less, dims, mixed));
                orders_line(text);
            }
    for (int which = FD_DOUGLAS; which <= FD_HUNDSDORFER_VERWER; which++)
        /* k = 0 .. 3: drifts of any size in two and in three factors, first with the theta of fd_scheme_theta, then
           with that for drifts. k = 4, 5: drifts of at most `courant` spacings a step in three factors, with the theta
           for them. */
        for (int k = 0; k < 6; k++) {
            const int dims = k < 2 ? 2 : 3;
            const double most = which == FD_MODIFIED_CRAIG_SNEYD ? 0.3 : 0.5;
            const double courant = k < 4 ? HUGE_VAL : k == 4 ? 1 : most;
            double theta = fd_scheme_theta(which, dims, 1);
            fd_scheme scheme;
            char size[32] = "any", text[256];
            if (k % 2 || k == 4) fd_scheme_theta_drift(which, dims, 1, courant, &theta);
            if (fd_scheme_of(which, theta, &scheme)) exit(1);
            if (courant < HUGE_VAL) snprintf(size, sizeof size, "%g", courant);
            snprintf(text, sizeof text, "drift,%s,%d factors,%s,,,,%.4f,%.4f,\n", scheme_name[which], dims, size, theta,
                     case_worst_with_drifts(&scheme, dims, courant));
            orders_line(text);
        }
    row("lag", "whole matrix", "", "160", case_outwards(160, 0), case_outwards(320, 0));
    row("lag", "couplings of the wrong sign left out", "", "160", case_outwards(160, 1), case_outwards(320, 1));
}

static void prices(void)
{
    static const char *const name[3] = {"price", "delta", "gamma"};
    static const struct {
        const char *name;
        int even, align, averaged;
    } way[] = {{"uniform; values at points", 1, FD_ANYWHERE, 0},
               {"uniform; averaged", 1, FD_ANYWHERE, 1},
               {"crowded; values at points", 0, FD_ANYWHERE, 0},
               {"crowded; strike on a node; averaged", 0, FD_ON_NODE, 1},
               {"crowded; strike midway; averaged", 0, FD_MIDWAY, 1}};
    double strike = 100, spot = 96, want[3], greek[2][3];
    for (int digital = 0; digital < 2; digital++)
        for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
            case_call(spot, strike, 0.05, 0.2, 1, want);
            if (digital) want[0] = exp(-0.05) * case_normal((log(spot / strike) + 0.03) / 0.2); /* 0.05 - 0.2^2 / 2 */
            for (int twice = 0; twice < 2; twice++) {
                fd_axis axis = case_price_axis(twice ? 300 : 150, strike, way[k].even, way[k].align);
                if (case_price(&axis, digital ? case_payoff_digital : case_payoff_call, strike, way[k].averaged,
                               twice ? 100 : 50, spot, greek[twice]))
                    exit(1);
            }
            for (int g = 0; g < (digital ? 1 : 3); g++) {
                char what[32];
                snprintf(what, sizeof what, "%s %s", digital ? "digital" : "call", name[g]);
                row("price", what, way[k].name, "150 x 50", fabs(greek[0][g] - want[g]), fabs(greek[1][g] - want[g]));
            }
        }
    for (int which = FD_DOUGLAS; which <= FD_HUNDSDORFER_VERWER; which++) {
        for (int twice = 0; twice < 2; twice++)
            if (case_heston_call(&case_heston_known, twice ? 256 : 128, twice ? 128 : 64, twice ? 60 : 30, which,
                                 FD_CENTRAL, greek[twice]))
                exit(1);
        row("heston", scheme_name[which], "relative", "128 x 64 x 30", fabs(greek[0][0] / case_heston_price - 1),
            fabs(greek[1][0] / case_heston_price - 1));
    }
}

int main(int argc, char **argv)
{
    orders_open(argc, argv, "fd_orders");
    orders_line("part,what,option,size,error,error_of_twice,order,theta,amplification,with_a_tenth_less\n");
    formulas();
    lines();
    schemes();
    prices();
    return orders_close();
}
