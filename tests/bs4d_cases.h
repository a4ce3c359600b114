/* bs4d_cases.h - the tests of the four-factor examples, on a GPU and on the host: known answers, payoffs of one asset
   against bs1d.h, and how the error against the closed form falls.
   MIT licence, see LICENSE.

   A grid here is in double. Include bs4d_problem.h, bs1d.h and check.h first. C11, C++17 and CUDA. */
#ifndef BS4D_CASES_H
#define BS4D_CASES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASE_UNIT(is_double) ((is_double) ? 0x1p-53 : 0x1p-24)

/* Marches the values at maturity in u to those of today, in single or double precision. */
typedef void case_march(const bs4d_problem *o, int is_double, double *u);

static double *case_array(const bs4d_problem *o)
{
    double *u = (double *)malloc(bs4d_elements(o->points) * sizeof *u);
    if (!u) exit(1);
    return u;
}

/* Returns the start values of tests/model/bs4d.py. */
static int case_start(const int *i)
{
    return (7 * i[0] + 3 * i[1] + 5 * i[2] + 2 * i[3]) % 11 - 5;
}

static void case_indices(const int *points, size_t element, int *i)
{
    for (int m = 0; m < BS4D_AXES; m++) {
        i[m] = (int)(element % (size_t)points[m]);
        element /= (size_t)points[m];
    }
}

/* Returns the rounding error allowed. The right-hand side is a sum of products of values up to 10 with weights that add
   up to twice the stiffness, each rounded a few times. The solves damp its error, and the steps add the errors up. */
static double case_rounding(const bs4d_problem *o, int is_double)
{
    double stiffness = 1;
    for (int m = 0; m < BS4D_AXES; m++) stiffness += pow(o->volatility[m] * o->points[m], 2) * o->maturity / o->steps;
    return 10 * 8 * CASE_UNIT(is_double) * stiffness * o->steps;
}

/* Reads `count` numbers of a line, from *text on. */
static int case_numbers(const char **text, int count, double *number)
{
    for (int n = 0; n < count; n++) {
        char *end;
        number[n] = strtod(*text, &end);
        if (end == *text) return 0;
        *text = end;
    }
    return 1;
}

static void case_known_march(const char *text, case_march *march)
{
    double head[7], want[2] = {NAN, NAN};
    bs4d_problem o;
    memset(&o, 0, sizeof o);
    int fine = case_numbers(&text, 7, head) && case_numbers(&text, BS4D_AXES, o.volatility) &&
               case_numbers(&text, BS4D_PAIRS, o.correlation) && case_numbers(&text, 2, want);
    if (!CHECK(fine, "a line of tests/known/bs4d.txt lacks numbers")) return;
    o.steps = (int)head[0], o.rate = head[5], o.maturity = head[6], o.spot = o.strike = 100;
    for (int m = 0; m < BS4D_AXES; m++) o.points[m] = (int)head[1 + m];
    CHECK(!bs4d_wrong(&o), "a known march: %s", bs4d_wrong(&o));
    const size_t elements = bs4d_elements(o.points);
    double *u = case_array(&o);
    for (int is_double = 0; is_double < 2; is_double++) {
        const double tolerance = case_rounding(&o, is_double);
        double moment = 0, weights = 0;
        int i[BS4D_AXES];
        for (size_t n = 0; n < elements; n++) {
            case_indices(o.points, n, i);
            u[n] = case_start(i);
        }
        march(&o, is_double, u);
        for (size_t n = 0; n < elements; n++) {
            case_indices(o.points, n, i);
            const int turned[BS4D_AXES] = {i[0], i[2], i[3], i[1]}, s = case_start(turned);
            moment += (1 + s * s) * u[n], weights += 1 + s * s;
        }
        check_near(u[bs4d_middle(o.points)], want[0], tolerance, "%dx%dx%dx%d f%d: the middle", o.points[0],
                   o.points[1], o.points[2], o.points[3], is_double ? 64 : 32);
        check_near(moment / weights, want[1] / weights, tolerance, "%dx%dx%dx%d f%d: the moment", o.points[0],
                   o.points[1], o.points[2], o.points[3], is_double ? 64 : 32);
    }
    free(u);
}

/* Compares the closed form with an integral of the model, which is right to its printed digits. */
static void case_known_value(const char *text)
{
    double head[4], want = NAN;
    bs4d_problem o;
    memset(&o, 0, sizeof o);
    int fine = case_numbers(&text, 4, head) && case_numbers(&text, BS4D_AXES, o.volatility) &&
               case_numbers(&text, BS4D_AXES, o.power) && case_numbers(&text, BS4D_PAIRS, o.correlation) &&
               case_numbers(&text, 1, &want);
    if (!CHECK(fine, "a line of tests/known/bs4d.txt lacks numbers")) return;
    o.spot = head[0], o.strike = head[1], o.rate = head[2], o.maturity = head[3];
    check_near(bs4d_closed_form(&o), want, 1e-12 * want, "the closed form at strike %g, maturity %g", o.strike,
               o.maturity);
}

static void case_known(case_march *march)
{
    FILE *file = fopen("tests/known/bs4d.txt", "r");
    char line[2000];
    int marches = 0, values = 0;
    if (!CHECK(file != NULL, "no tests/known/bs4d.txt: run from the top folder")) return;
    while (fgets(line, (int)sizeof line, file)) {
        if (!strncmp(line, "case ", 5)) case_known_march(line + 5, march), marches++;
        if (!strncmp(line, "exact ", 6)) case_known_value(line + 6), values++;
    }
    fclose(file);
    CHECK(marches == 12 && values == 7, "%d marches and %d values in tests/known/bs4d.txt", marches, values);
}

/* Compares payoffs of one asset m with bs1d.h. Along the other axes nothing changes, whatever the correlations; along
   its own axis the march is bs1d.h's implicit march on the same points (there, too, u' - u is A^-1 L u). Only the
   matrix of the first axis contains the discount: on the other axes the steps would differ in second order, so the rate
   is 0 there. */
static void case_one_asset(case_march *march)
{
    static const double correlation[2][BS4D_PAIRS] = {{0, 0, 0, 0, 0, 0}, {0.5, -0.3, 0.2, 0.1, 0.4, -0.6}};
    static double work[BS1D_HOST_LEN(BS4D_MOST_POINTS)], line[BS4D_MOST_POINTS];
    for (int kind = 0; kind < 2; kind++)
        for (int m = 0; m < BS4D_AXES; m++) {
            bs4d_problem o = {100, 95, m == 0 ? 0.05 : 0, 1, {0.25, 0.18, 0.33, 0.4}, {0}, {0}, {4, 4, 4, 4}, 5};
            memcpy(o.correlation, correlation[kind], sizeof o.correlation);
            o.power[m] = 1, o.points[m] = 20;
            const int n = o.points[m];
            bs1d_option_f64 option = {
                o.spot, o.strike, o.rate, 0, o.volatility[m], o.maturity, 2 * o.spot * (n - 1) / n, o.steps, BS1D_CALL};
            bs1d_result_f64 result;
            int status = bs1d_host_implicit_f64(1, n, &option, &result, line, work);
            CHECK(status == 0 && result.status == 0, "bs1d.h: %s", bs1d_status_string(status ? status : result.status));
            double *u = case_array(&o);
            for (int is_double = 0; is_double < 2; is_double++) {
                double worst = 0;
                int i[BS4D_AXES];
                for (size_t e = 0; e < bs4d_elements(o.points); e++) u[e] = bs4d_payoff(&o, e);
                march(&o, is_double, u);
                for (size_t e = 0; e < bs4d_elements(o.points); e++) {
                    case_indices(o.points, e, i);
                    double error = fabs(u[e] - line[i[m]]);
                    if (!(error <= worst)) worst = error;
                }
                check_near(worst, 0, 10 * case_rounding(&o, is_double), "asset %d alone, correlations %d, f%d", m + 1,
                           kind, is_double ? 64 : 32); /* values are up to 105 */
            }
            free(u);
        }
}

/* Checks how the error against the closed form falls. It is of second order in the spacing and of first order in the
   step. If the number of steps grows with the square of the number of points, the error falls at least as the square of
   the spacing. On grids as coarse as these, where a cell at the strike is as wide as the standard deviation of the
   average, it was seen to fall twice as fast, from 0.18 (of a price of 8.4). */
static void case_convergence(case_march *march, int is_double, int coarse, int fine, int steps)
{
    const int size[2] = {coarse, fine};
    double error[2];
    for (int k = 0; k < 2; k++) {
        const int n = size[k], points[BS4D_AXES] = {n, n, n, n};
        const bs4d_problem o = bs4d_problem_of(points, steps * n * n / (coarse * coarse));
        double *u = case_array(&o);
        for (size_t e = 0; e < bs4d_elements(o.points); e++) u[e] = bs4d_payoff(&o, e);
        march(&o, is_double, u);
        error[k] = fabs(u[bs4d_middle(o.points)] - bs4d_closed_form(&o));
        free(u);
    }
    CHECK(error[0] <= 0.2, "%d^4 points: off by %g", coarse, error[0]);
    CHECK(fine * fine * error[1] <= coarse * coarse * error[0], "%d^4 points: off by %g, %d^4 by %g", fine, error[1],
          coarse, error[0]);
}

#endif
