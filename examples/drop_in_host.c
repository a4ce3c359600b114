/* drop_in_host.c - a system solved on the host, in plain C with trid.h alone.
   MIT licence, see LICENSE.

   In the kit's folder:

       cp trid.h examples/drop_in_host.c somewhere && cd somewhere
       gcc -std=c11 -o drop_in_host drop_in_host.c && ./drop_in_host */
#include "trid.h"

#include <stdio.h>

int main(void)
{
    enum { N = 5 };
    double a[N] = {0, -1, -1, -1, -1}, b[N] = {3, 3, 3, 3, 3}, c[N] = {-1, -1, -1, -1, 0}, d[N] = {1, 2, 3, 4, 5};
    double x[N], work[N];

    if (!(trid_host_dominance_f64(N, a, b, c) > 1)) puts("not dominant: no solver here is sure to succeed");
    int status = trid_host_thomas_f64(N, a, b, c, d, x, work);
    if (status != 0) {
        printf("row %d: %s\n", status - 1, trid_status_string(status));
        return 1;
    }
    for (int i = 0; i < N; i++) printf("x[%d] = %.15f\n", i, x[i]);
    printf("residual %.2g\n", trid_host_residual_f64(N, a, b, c, d, x));
    return 0;
}
