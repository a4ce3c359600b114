/* pivoted.c - forward errors of the pivoted solver on the 20 classic test matrices, beside LAPACK's algorithm and the
   solver that does not pivot.
   MIT licence, see LICENSE.

       build/bench/pivoted [--csv FILE]

   The matrices have 512 rows, in double precision; the unknowns are normally distributed about 3. Each figure is the
   geometric mean of |x - y| / |y| in the Euclidean norm over 4 random matrices with 8 right-hand sides each, where y is
   the solution in 113 bits. A number after a slash says how many of these 32 were refused with a status; "refused"
   stands where all were. Below the 20 stands matrix 18 with its rows or columns multiplied by random powers of ten,
   1e-150 .. 1e150; if columns are multiplied, each unknown is measured in units of its own size. "scaled rows" is the
   pivoted solver after all rows have been scaled to the same size by powers of two. */
#include "../trid.h"
#include "../trid/pivoted.h"

#include "../tests/pivoted_cases.h"

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown"
#endif

enum { ROWS = 512, SEED = 1, SEEDS = 4, SIDES = 8 };
enum solver { GTSV, PIVOTED_4, PIVOTED_8, PIVOTED_16, SCALED_8, HYBRID_8, SOLVERS };
enum { ROWS_SCALED = 21, COLUMNS_SCALED = 22 };

static case_system scaled_rows(case_system s)
{
    case_system to = case_new(s.n);
    for (int j = 0; j < s.n; j++) {
        double largest = fmax(fabs(s.b[j]), fmax(j > 0 ? fabs(s.a[j]) : 0, j < s.n - 1 ? fabs(s.c[j]) : 0));
        int exponent = -ilogb(largest);
        to.a[j] = ldexp(s.a[j], exponent);
        to.b[j] = ldexp(s.b[j], exponent);
        to.c[j] = ldexp(s.c[j], exponent);
        to.d[j] = ldexp(s.d[j], exponent);
    }
    return to;
}

/* Returns a test matrix. Numbers above 20 are matrix 18 with its rows or columns multiplied. size receives the sizes of
   the unknowns. */
static case_system matrix(int number, unsigned long long seed, double *size)
{
    case_random random = {seed};
    case_system s = pivoted_matrix(number > 20 ? 18 : number, ROWS, seed);
    for (int j = 0; j < ROWS; j++) {
        double power = number > 20 ? pow(10, case_between(&random, -150, 150)) : 1;
        size[j] = number == COLUMNS_SCALED ? 1 / power : 1;
        s.b[j] *= power;
        if (number != COLUMNS_SCALED) s.a[j] *= power, s.c[j] *= power;
        if (number == COLUMNS_SCALED && j > 0) s.c[j - 1] *= power;
        if (number == COLUMNS_SCALED && j < ROWS - 1) s.a[j + 1] *= power;
    }
    return s;
}

/* Gives the system the right-hand side of new random unknowns. */
static void renew(case_random *random, case_system s, const double *size)
{
    double x[ROWS];
    for (int j = 0; j < ROWS; j++) x[j] = size[j] * (3 + pivoted_normal(random));
    pivoted_right_hand_side(s, x);
}

static int solve(enum solver solver, case_system s, double *x, double *work)
{
    if (solver == GTSV) return pivoted_gtsv_f64(s, x, work);
    if (solver == SCALED_8) {
        case_system rows = scaled_rows(s);
        int status = trid_host_pivoted_f64(s.n, 8, rows.a, rows.b, rows.c, rows.d, x, work);
        case_free(rows);
        return status;
    }
    if (solver == HYBRID_8) return trid_host_hybrid_f64(s.n, 8, s.a, s.b, s.c, s.d, x, work);
    const int k = solver == PIVOTED_4 ? 4 : solver == PIVOTED_8 ? 8 : 16;
    return trid_host_pivoted_f64(s.n, k, s.a, s.b, s.c, s.d, x, work);
}

static void line(FILE *csv, const char *text)
{
    fputs(text, stdout);
    if (csv) fputs(text, csv);
}

int main(int argc, char **argv)
{
    FILE *csv = argc == 3 && !strcmp(argv[1], "--csv") ? fopen(argv[2], "w") : NULL;
    if (argc > 1 && !csv) return fprintf(stderr, "usage: pivoted [--csv FILE], where FILE can be written\n"), 2;
    /* Enough for each solver: K = 4 needs the most of the pivoted ones. */
    size_t longest = trid_host_pivoted_len_f64(ROWS, 4) + trid_host_hybrid_len_f64(ROWS, 8) + 3 * ROWS;
    double *x = case_memory(ROWS * sizeof *x), *work = case_memory(longest * sizeof *work);
    case_wide *y = case_memory(ROWS * sizeof *y), *wide = case_memory(3 * ROWS * sizeof *wide);
    case_wide *unit = case_memory(ROWS * sizeof *unit);
    char text[256];
    snprintf(text, sizeof text, "# %d rows, double precision, %d matrices with %d right-hand sides; gcc %s, %s\n", ROWS,
             SEEDS, SIDES, __VERSION__, BENCH_FLAGS);
    line(csv, text);
    line(csv, "number,matrix,gtsv,pivoted K = 4,pivoted K = 8,pivoted K = 16,scaled rows K = 8,hybrid K = 8\n");
    for (int number = 1; number <= COLUMNS_SCALED; number++) {
        double sum[SOLVERS] = {0};
        int refused[SOLVERS] = {0};
        case_random random = {SEED};
        for (int seed = 0; seed < SEEDS; seed++) {
            double size[ROWS];
            case_system s = matrix(number, SEED + (unsigned long long)seed, size);
            for (int side = 0; side < SIDES; side++) {
                renew(&random, s, size);
                if (pivoted_gtsv_wide(s, y, wide)) return 1;
                for (int solver = 0; solver < SOLVERS; solver++) {
                    if (solve((enum solver)solver, s, x, work)) {
                        refused[solver]++;
                        continue;
                    }
                    for (int j = 0; j < ROWS; j++) x[j] /= size[j], unit[j] = y[j] / size[j];
                    sum[solver] += log(pivoted_error(ROWS, x, unit));
                }
            }
            case_free(s);
        }
        char *end = text + snprintf(text, sizeof text, "%d,%s", number,
                                    number == ROWS_SCALED      ? "as 18 with rows scaled"
                                    : number == COLUMNS_SCALED ? "as 18 with columns scaled"
                                                               : pivoted_name[number - 1]);
        for (int solver = 0; solver < SOLVERS; solver++) {
            int solved = SEEDS * SIDES - refused[solver];
            end += solved ? sprintf(end, ",%.1e", exp(sum[solver] / solved)) : sprintf(end, ",");
            if (refused[solver]) end += sprintf(end, solved ? " / %d" : "refused", refused[solver]);
        }
        sprintf(end, "\n");
        line(csv, text);
    }
    if (csv && fclose(csv)) return perror(argv[2]), 1;
    free(x), free(work), free(y), free(wide), free(unit);
    return 0;
}
