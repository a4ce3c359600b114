/* cut_lines.cu - lines along z of a grid that is cut across ranks: reduce, exchange, solve, exchange, expand.
   MIT licence, see LICENSE.

   In this folder, or in the kit's folder through the emulator:

       nvcc -O3 -arch=native -I.. -o cut_lines cut_lines.cu && ./cut_lines
       tests/simt/run --plain examples/cut_lines.cu

   Every rank holds some planes of the grid. Here one process plays all ranks in turn, on one GPU, and `send` stands for
   the exchange between GPUs or machines. docs/batch.md, "Partitions of longer systems", explains the buffers. */
#include "trid/batch.h"
#include "cuda_check.h"

#include <stdio.h>
#include <vector>

enum { RANKS = 4, NX = 7, NY = 5, NZ = 101, LINES = NX * NY, SHARE = (LINES + RANKS - 1) / RANKS };

/* A rank's planes and arrays. Its share: the lines whose reduced systems it solves. */
struct rank {
    int first, planes;
    double *a, *b, *c, *d, *x;  /* planes * LINES */
    double *ia, *ic, *id;       /* 2 LINES: the rows of its own interfaces, for one rank's share after another */
    double *ra, *rc, *rd, *one; /* 2 RANKS * lines_of_share: the reduced systems of its share; one: their diagonal */
    double *ends;               /* 2 LINES: the interface unknowns of its partitions */
};

static int lines_of_share(int rank)
{
    const int left = LINES - SHARE * rank;
    return left < 0 ? 0 : left < SHARE ? left : SHARE;
}

static double *on_device(size_t count, const double *from)
{
    double *to;
    check(cudaMalloc((void **)&to, (count + 1) * sizeof *to)); /* not null even if count is 0 */
    if (from) check(cudaMemcpy(to, from, count * sizeof *to, cudaMemcpyHostToDevice));
    return to;
}

/* Copies the planes of rank r to the device. */
static rank open_rank(int r, const double *a, const double *b, const double *c, const double *d)
{
    const int first = NZ * r / RANKS, planes = NZ * (r + 1) / RANKS - first;
    const size_t at = (size_t)LINES * first, held = (size_t)LINES * planes, own = 2 * RANKS * lines_of_share(r);
    const std::vector<double> one(own, 1);
    return {first,
            planes,
            on_device(held, a + at),
            on_device(held, b + at),
            on_device(held, c + at),
            on_device(held, d + at),
            on_device(held, NULL),
            on_device(2 * LINES, NULL),
            on_device(2 * LINES, NULL),
            on_device(2 * LINES, NULL),
            on_device(own, NULL),
            on_device(own, NULL),
            on_device(own, NULL),
            on_device(own, one.data()),
            on_device(2 * LINES, NULL)};
}

static void close_rank(const rank *k)
{
    double *const arrays[] = {k->a, k->b, k->c, k->d, k->x, k->ia, k->ic, k->id, k->ra, k->rc, k->rd, k->one, k->ends};
    for (double *array : arrays) check(cudaFree(array));
}

/* Sends numbers from one rank's array to another's. */
static void send(double *to, const double *from, int count)
{
    check(cudaMemcpy(to, from, (size_t)count * sizeof *to, cudaMemcpyDeviceToDevice));
}

static void stop_if(int status)
{
    if (!status) return;
    fprintf(stderr, "%s\n", trid_batch_status_string(status));
    exit(1);
}

static void reduce(const rank *k, int r)
{
    trid_batch_options options = {};
    options.flags = (r == 0 ? TRID_BATCH_FIRST : 0) | (r == RANKS - 1 ? TRID_BATCH_LAST : 0);
    const trid_lines lines = trid_lines_axis(NX, NY, k->planes, 2);
    stop_if(trid_batch_interface_reduce_f64(lines, k->a, k->b, k->c, k->d, SHARE, k->ia, k->ic, k->id, &options, 0));
}

static void solve(const rank *k, int r)
{
    const trid_lines lines = trid_lines_interleaved(2 * RANKS, lines_of_share(r));
    stop_if(trid_batch_solve_f64(lines, k->ra, k->one, k->rc, k->rd, k->rd, NULL, 0));
}

static void expand(const rank *k)
{
    const trid_lines lines = trid_lines_axis(NX, NY, k->planes, 2);
    stop_if(trid_batch_interface_expand_f64(lines, k->a, k->b, k->c, k->d, SHARE, k->ends, k->x, NULL, 0));
}

int main()
{
    const size_t all = (size_t)LINES * NZ;
    std::vector<double> a(all), b(all), c(all), d(all), x(all);
    for (size_t i = 0; i < all; i++) {
        a[i] = -0.1 * (double)(i % 7), c[i] = -0.1 * (double)(i % 5);
        b[i] = 1 - a[i] - c[i], d[i] = (double)(i % 11) - 5;
    }
    rank ranks[RANKS];
    for (int r = 0; r < RANKS; r++) ranks[r] = open_rank(r, &a[0], &b[0], &c[0], &d[0]);

    for (int r = 0; r < RANKS; r++) reduce(&ranks[r], r);
    for (int r = 0; r < RANKS; r++)
        for (int q = 0; q < RANKS; q++) { /* rank q gets the interfaces of its share */
            const int numbers = 2 * lines_of_share(q);
            send(ranks[q].ra + numbers * r, ranks[r].ia + 2 * SHARE * q, numbers);
            send(ranks[q].rc + numbers * r, ranks[r].ic + 2 * SHARE * q, numbers);
            send(ranks[q].rd + numbers * r, ranks[r].id + 2 * SHARE * q, numbers);
        }
    for (int r = 0; r < RANKS; r++) solve(&ranks[r], r);
    for (int r = 0; r < RANKS; r++)
        for (int q = 0; q < RANKS; q++) { /* and returns the unknowns */
            const int numbers = 2 * lines_of_share(q);
            send(ranks[r].ends + 2 * SHARE * q, ranks[q].rd + numbers * r, numbers);
        }
    for (int r = 0; r < RANKS; r++) {
        expand(&ranks[r]);
        const size_t held = (size_t)LINES * ranks[r].planes;
        check(cudaMemcpy(&x[(size_t)LINES * ranks[r].first], ranks[r].x, held * sizeof x[0], cudaMemcpyDeviceToHost));
        close_rank(&ranks[r]);
    }

    double worst = 0;
    for (size_t i = 0; i < all; i++) {
        const double above = i < LINES ? 0 : x[i - LINES], below = i + LINES < all ? x[i + LINES] : 0;
        const double residual = fabs(a[i] * above + b[i] * x[i] + c[i] * below - d[i]);
        if (!(residual <= worst)) worst = residual;
    }
    printf("%d lines of %d rows on %d ranks: residual %.1e\n", LINES, NZ, RANKS, worst);
    return !(worst < 1e-13);
}
