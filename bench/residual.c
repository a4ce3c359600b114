/* residual.c - the residuals that the solvers of trid.h leave if matrices are only just dominant.
   MIT licence, see LICENSE.

       residual [--csv FILE]

   Prints the largest residual and the largest error of x, in unit roundoffs, over 600 random systems of 3 to 1000 rows,
   for the hybrid with several numbers of rows a lane, for the same with a step of refinement, and for the Thomas
   algorithm. The results do not depend on the machine's speed, and hardly on its arithmetic. */
#include "trid.h"

#include "../tests/trid_cases.h"

#include <float.h>
#include <time.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown"
#endif

enum { SYSTEMS = 600, MOST_ROWS = 1000, SEED = 20240609 };

/* Rows a lane; 0 is the Thomas algorithm, a negative number the hybrid with a step of refinement. */
static const int solvers[] = {1, 2, 4, 8, 16, 32, 0, -1, -8};
static const char *const solver_name[] = {"K 1",  "K 2",    "K 4",         "K 8",        "K 16",
                                          "K 32", "Thomas", "K 1 refined", "K 8 refined"};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

#define BENCH_SOLVE(Real, F, roundoff)                                                                                 \
    static void F(measure)(int rows_per_lane, case_system s, const long double *want, double *worst)                   \
    {                                                                                                                  \
        static Real a[MOST_ROWS], b[MOST_ROWS], c[MOST_ROWS], d[MOST_ROWS], x[MOST_ROWS], work[12 * MOST_ROWS];        \
        static double y[MOST_ROWS];                                                                                    \
        int n = s.n, K = rows_per_lane;                                                                                \
        for (int j = 0; j < n; j++)                                                                                    \
            a[j] = (Real)s.a[j], b[j] = (Real)s.b[j], c[j] = (Real)s.c[j], d[j] = (Real)s.d[j];                        \
        int status = K == 0  ? F(trid_host_thomas)(n, a, b, c, d, x, work)                                             \
                     : K > 0 ? F(trid_host_hybrid)(n, K, a, b, c, d, x, work)                                          \
                             : F(trid_host_hybrid_refined)(n, -K, a, b, c, d, x, work);                                \
        for (int j = 0; j < n; j++) y[j] = (double)x[j];                                                               \
        double got[] = {(double)case_residual(s, y) / roundoff, (double)case_error(n, y, want) / roundoff};            \
        for (int i = 0; i < 2; i++)                                                                                    \
            if (status || !(got[i] <= worst[i])) worst[i] = status ? HUGE_VAL : got[i];                                \
    }
#define NAME_F32(stem) stem##_f32
#define NAME_F64(stem) stem##_f64
BENCH_SOLVE(float, NAME_F32, (FLT_EPSILON / 2))
BENCH_SOLVE(double, NAME_F64, (DBL_EPSILON / 2))

/* Finds the largest residual and error of each solver for one kind of matrix. */
static void worst_of(int kind, int to_float, double excess, double worst[SOLVERS][2])
{
    static long double want[MOST_ROWS];
    case_random random = {SEED};
    for (int i = 0; i < SYSTEMS; i++) {
        int n = 3 + case_below(&random, i % 8 ? 62 : MOST_ROWS - 2);
        case_system s = case_weak(&random, n, kind, excess, to_float);
        case_reference(s, want);
        for (int k = 0; k < SOLVERS; k++) (to_float ? measure_f32 : measure_f64)(solvers[k], s, want, worst[k]);
        case_free(s);
    }
}

int main(int argc, char **argv)
{
    const double excess[] = {1e-1, 1e-2, 1e-3, 1e-5, 1e-7, 0};
    FILE *csv = NULL;
    if (argc == 3 && !strcmp(argv[1], "--csv")) {
        csv = fopen(argv[2], "w");
        if (!csv) return perror(argv[2]), 1;
    } else if (argc != 1) {
        fprintf(stderr, "usage: residual [--csv FILE]\n");
        return 2;
    }
    FILE *to[] = {stdout, csv};
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    for (int out = 0; out < 2 && to[out]; out++) {
        fprintf(to[out], "# largest residual and error in unit roundoffs of %d systems, seed %d; gcc %s %s, %s\n",
                (int)SYSTEMS, (int)SEED, __VERSION__, BENCH_FLAGS, date);
        fprintf(to[out], "measure,matrix,type,excess");
        for (int k = 0; k < SOLVERS; k++) fprintf(to[out], ",%s", solver_name[k]);
        fprintf(to[out], "\n");
    }
    for (int kind = 0; kind < CASE_KINDS; kind++) {
        for (int type = 0; type < 2; type++) {
            for (int e = 0; e < (int)(sizeof excess / sizeof *excess); e++) {
                double worst[SOLVERS][2] = {{0}};
                worst_of(kind, type == 0, excess[e], worst);
                for (int out = 0; out < 4; out++) {
                    FILE *file = to[out / 2];
                    if (!file) continue;
                    fprintf(file, "%s,%s,%s,%g", out % 2 ? "error" : "residual", case_kind_name[kind],
                            type == 0 ? "f32" : "f64", excess[e]);
                    for (int k = 0; k < SOLVERS; k++) {
                        double w = worst[k][out % 2];
                        fprintf(file, w < 100 ? ",%.2g" : w < 1e5 ? ",%.0f" : ",%.1e", w);
                    }
                    fprintf(file, "\n");
                }
            }
        }
    }
    return csv && fclose(csv) != 0;
}
