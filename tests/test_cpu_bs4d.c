/* test_cpu_bs4d.c - four-factor Black-Scholes as examples/bs4d_host.c composes it.
   MIT licence, see LICENSE. */
#define BS4D_NO_MAIN
#include "../examples/bs4d_host.c"
#include "bs1d.h"

#include "check.h"
#include "bs4d_cases.h"

static int threads = 1;

#define MARCH(T, suffix)                                                                                               \
    static void march_##suffix(const bs4d_problem *o, double *u)                                                       \
    {                                                                                                                  \
        const size_t elements = bs4d_elements(o->points);                                                              \
        T *array = (T *)calloc(elements + 2 * MARGIN, sizeof *array), *v = (T *)malloc(elements * sizeof *v);          \
        char *work = (char *)malloc((size_t)threads * bs4d_work_bytes_##suffix());                                     \
        if (!array || !v || !work) exit(1);                                                                            \
        for (size_t i = 0; i < elements; i++) array[MARGIN + i] = (T)u[i];                                             \
        int status = bs4d_march_##suffix(o, array + MARGIN, v, work, threads);                                         \
        CHECK(status == 0, "cpu_avx.h: %s", cpu_avx_status_string(status));                                            \
        for (size_t i = 0; i < elements; i++) u[i] = (double)array[MARGIN + i];                                        \
        free(array), free(v), free(work);                                                                              \
    }
MARCH(float, f32)
MARCH(double, f64)

static void march_in(const bs4d_problem *o, int is_double, double *u)
{
    is_double ? march_f64(o, u) : march_f32(o, u);
}

int main(void)
{
    for (threads = 1; threads <= 3; threads += 2) { /* 3 divides no axis */
        case_known(march_in);
        case_one_asset(march_in);
    }
    case_convergence(march_in, 0, 8, 16, 10);
    case_convergence(march_in, 1, 8, 16, 10);
    return check_report();
}
