/* test_bs4d.cu - four-factor Black-Scholes as examples/bs4d.cu composes it, on a GPU or under tests/simt.
   MIT licence, see LICENSE. */
#define BS4D_NO_MAIN
#include "../examples/bs4d.cu"

#include "check.h"
#include "bs4d_cases.h"

#include <vector>

template <class T>
static void march(const bs4d_problem *o, double *u)
{
    std::vector<T> values(u, u + bs4d_elements(o->points));
    const size_t bytes = values.size() * sizeof(T);
    T *device[2];
    for (T *&array : device) check(cudaMalloc((void **)&array, bytes));
    check(cudaMemset(device[1], 0xff, bytes)); /* NaN */
    check(cudaMemcpy(device[0], values.data(), bytes, cudaMemcpyHostToDevice));
    bs4d_march(o, device[0], device[1]);
    check(cudaMemcpy(values.data(), device[0], bytes, cudaMemcpyDeviceToHost));
    for (T *array : device) check(cudaFree(array));
    for (size_t i = 0; i < values.size(); i++) u[i] = (double)values[i];
}

static void march_in(const bs4d_problem *o, int is_double, double *u)
{
    is_double ? march<double>(o, u) : march<float>(o, u);
}

/* The values at maturity, from the example's kernel. */
template <class T>
static void begin(void)
{
    const int points[BS4D_AXES] = {8, 4, 12, 4};
    const bs4d_problem o = bs4d_problem_of(points, 1);
    std::vector<T> values(bs4d_elements(points));
    T *u;
    check(cudaMalloc((void **)&u, values.size() * sizeof(T)));
    bs4d_begin(&o, u);
    check(cudaMemcpy(values.data(), u, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
    check(cudaFree(u));
    double worst = 0;
    for (size_t i = 0; i < values.size(); i++) {
        double error = fabs((double)values[i] - bs4d_payoff(&o, i));
        if (!(error <= worst)) worst = error;
    }
    check_near(worst, 0, 100 * CASE_UNIT(sizeof(T) == 8) * 16, "values at maturity"); /* pow's error, in units of 100 */
}

int main(void)
{
    begin<float>();
    begin<double>();
    case_known(march_in);
    case_one_asset(march_in);
    case_convergence(march_in, 1, 8, 12, 4);
    return check_report();
}
