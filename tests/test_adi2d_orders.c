/* test_adi2d_orders.c - pde/adi2d.h on the host: orders in space and time against a known solution, and the benchmark's
   known answers.
   MIT licence, see LICENSE. */
#include "check.h"

#include "adi2d_orders.h"

#include "../examples/locvol_problems.h"

static double order_of(double coarse, double fine)
{
    return log(coarse / fine) / log(2.0);
}

/* Checks orders in time. x^2 y^2 has no error in space, so only the error in time remains. With 40 and 80 steps, orders
   are within 0.15 of their limits. */
static void in_time(void)
{
    static const char *const name[] = {"Douglas", "Craig-Sneyd", "Modified Craig-Sneyd", "Hundsdorfer-Verwer"};
    for (int scheme = FD_DOUGLAS; scheme <= FD_HUNDSDORFER_VERWER; scheme++)
        for (int mixed = 0; mixed < 2; mixed++)
            for (int when = FD_BOTH_ENDS; when <= FD_NEW_END; when++) {
                if (check_short() && when != (scheme + mixed) % 3) continue;
                double rho = mixed ? 0.7 : 0, coarse = orders_powers(20, 40, scheme, when, 4, 2, rho, 0);
                double fine = orders_powers(20, 80, scheme, when, 4, 2, rho, 0);
                int first = when == FD_NEW_END || (mixed && scheme == FD_DOUGLAS);
                check_near(order_of(coarse, fine), first ? 1 : 2, 0.15, "%s, correlation %g, coefficients %d",
                           name[scheme], rho, when);
                CHECK(fine < (first ? 2e-3 : 1e-5), "%s, correlation %g, coefficients %d: %.2e", name[scheme], rho,
                      when, fine);
            }
}

/* Checks orders in space on crowded points, with so many steps that the error in time does not count. At faces whose
   slope is given, mixed derivatives are taken as 0. */
static void in_space(int slopes)
{
    const int grids = check_short() ? 2 : 3;
    double error[3];
    for (int k = 0; k < grids; k++)
        error[k] = orders_powers(12 << k, 200, FD_HUNDSDORFER_VERWER, FD_MIDDLE, 4, 3.5, slopes ? 0 : 0.7, slopes);
    for (int k = 0; k + 1 < grids; k++)
        CHECK(order_of(error[k], error[k + 1]) > 1.8, "%d to %d points, %s: %.2e to %.2e", 12 << k, 24 << k,
              slopes ? "slopes" : "values", error[k], error[k + 1]);
    if (!check_short()) CHECK(error[2] < (slopes ? 1e-3 : 2e-4), "48 points: %.2e", error[2]);
}

/* Solves problem k of a data set of the benchmark alone. */
static double locvol_one(const locvol_set *set, int k, int kind, int single)
{
    fd_problem *problem = (fd_problem *)orders_memory((size_t)set->outer * sizeof *problem);
    locvol_parameters *parameters = (locvol_parameters *)orders_memory((size_t)set->outer * sizeof *parameters);
    fd_status status = fd_status_of(-99, 0, 0, 0, 0, 0, 0); /* what no call leaves */
    fd_values values;
    double spot[2];
    CHECK(!locvol_problems(set, problem, parameters, spot), "problems");
    const fd_batch batch = {1,    {set->numx, set->numy}, set->numt - 1, 0, 1, problem + k, &status, &values,
                            NULL, {NULL},                 kind};
    const size_t bytes = single ? locvol_host_bytes_f32(&batch, 1) : locvol_host_bytes_f64(&batch, 1);
    void *work = orders_memory(bytes);
    int wrong = single ? locvol_host_f32(&batch, parameters + k, 1, work, bytes)
                       : locvol_host_f64(&batch, parameters + k, 1, work, bytes);
    CHECK(!wrong && !status.what, "%s %d: %d, %s", set->name, k, wrong, adi2d_status_string(status.what));
    free(work), free(parameters), free(problem);
    return values.value;
}

/* Compares with the benchmark's answers, to the tolerances for which it asks. */
static void benchmark(void)
{
    char line[200], name[20];
    double value;
    int outer, numx, numy, numt, k, count = 0;
    FILE *file = fopen("tests/known/locvol.txt", "r");
    if (!CHECK(file != NULL, "no tests/known/locvol.txt: run from the top folder")) return;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%19s %d %d %d %d %d %lf", name, &outer, &numx, &numy, &numt, &k, &value) != 7) continue;
        for (int s = 0; s < 3; s++) {
            const locvol_set *set = &locvol_sets[s];
            if (strcmp(name, set->name)) continue;
            if (check_short() && s > 0) {
                check_skip(1, "%s %d of the benchmark: SHORT_TESTS is set", name, k);
                count++;
                continue;
            }
            CHECK(outer == set->outer && numx == set->numx && numy == set->numy && numt == set->numt, "%s", name);
            check_near(locvol_one(set, k, ADI2D_PRODUCTS, 0), value, 1e-11, "%s %d", name, k);
            check_near(locvol_one(set, k, ADI2D_PRODUCTS, 1), value, 5e-6, "%s %d, single precision", name, k);
            count++;
        }
    }
    fclose(file);
    CHECK(count == 7, "%d known answers", count);
}

/* Compares with the plain program where no answer is known. */
static void plain(void)
{
    const locvol_set odd = {"odd", 3, 33, 20, 9};
    float single[3];
    double result[3];
    CHECK(!locvol_plain_f64(&odd, 0, result) && !locvol_plain_f32(&odd, 1, single), "memory");
    for (int k = 0; k < 3; k++) {
        check_near(locvol_one(&odd, k, ADI2D_PRODUCTS, 0), result[k], 1e-14, "odd %d", k);
        check_near((double)single[k], result[k], 1e-6, "odd %d, single precision", k);
    }
}

int main(void)
{
    in_time();
    in_space(0);
    in_space(1);
    benchmark();
    plain();
    if (check_short())
        check_skip(2, "two of three coefficients of each scheme, and the finest grid: SHORT_TESTS is set");
    return check_report();
}
