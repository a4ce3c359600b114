/* test_batch_long.cu - trid/batch.h: systems that are solved in levels, on a GPU or under tests/simt.
   MIT licence, see LICENSE.

   Limits are forced down, so that systems of a few rows already count as long and a thousand rows need several levels.
   Most tests are those of test_batch.cu, which is included. This program has double precision;
   test_batch_long_single.cu has single precision. */
#define TEST_BATCH_LONG
#define TRID_P_BATCH_ON_CHIP(bytes, checked) (24 + 0 * ((bytes) + (checked)))
#define TRID_P_BATCH_ON_CHIP_INTERLEAVED 24
#define TRID_P_BATCH_ON_CHIP_CLUSTER 0
#define TRID_P_BATCH_ON_CHIP_PIVOTED(bytes, dense) (24 + 0 * ((bytes) + (dense)))
#define TRID_P_BATCH_CHUNK_ROWS 8                                /* 256 rows a chunk, interleaved 64, */
#define TRID_P_BATCH_CHUNK_ROWS_PIVOTED(bytes) (4 + 0 * (bytes)) /* with pivoting 128 */
#define TRID_P_BATCH_CHUNK_SYSTEMS(bytes) (64 / (bytes))
#define TRID_P_BATCH_PARTITION_WORDS 1 /* read once: 128 rows a partition, in single precision 256, .. */
#define TRID_P_BATCH_PARTITION_THREADS 64
#define TRID_P_BATCH_PARTITION_RESIDENT 2
#define TRID_P_BATCH_LINKS 2 /* .. of which a warp links 64 */
#define TRID_P_BATCH_PATIENCE 2
#include "test_batch.cu"

/* Rows around the limits: what fits on chip, one chunk, two chunks, two and three levels. */
static const int around[] = {24,  25,  33,  128, 129,  130,  255,  256,  257, 258,
                             300, 511, 512, 513, 2000, 3072, 3073, 3500, 4097};

template <class T>
static void test_levels()
{
    for (int n : around)
        for (const layout &l : layouts(n, n > 300 ? 2 : 5)) {
            if (left_out<T>(n) || (n > (check_short() ? 300 : 1000) && case_below(&dice, check_short() ? 8 : 2)))
                continue;
            test_solve<T>(l.name, l.lines, transposed_or_not(), 0, case_below(&dice, 4));
            for (int check = 0; check < 3; check++) {
                int flags = (case_below(&dice, 2) ? TRID_BATCH_ADD : 0) | transposed_or_not();
                if (check < 2 && case_below(&dice, 2)) flags |= TRID_BATCH_SHARED;
                if (check == 1 && case_below(&dice, 2)) flags |= TRID_BATCH_REFINED;
                silent = case_below(&dice, 4) == 0;
                test_solve<T>(l.name, l.lines, flags, case_below(&dice, 2), case_below(&dice, 4), check);
                silent = 0;
            }
        }
    if (check_short()) return;
    test_solve<T>("three levels", trid_lines_contiguous(60000, 1), 0, 0, 0);
    test_solve<T>("two levels of faces", trid_lines_contiguous(60000, 1), 0, 0, 0, 2);
}

/* Rows of zeros: each must be reported as a zero pivot under its own number, wherever it lies. Of two such rows the
   first is reported, whether it fails among the rows of its chunk, or as the first row of its chunk in the reduced
   system, or in the next reduced system. Of two in one chunk either may be reported. With pivoting the status is 1. */
template <class T>
static void test_zeros()
{
    static const int n = 20000;
    static const int rows[][2] = {{0, -1},        {1, -1},      {5, -1},      {255, -1},      {256, -1},
                                  {257, 256},     {511, 512},   {512, 600},   {9999, -1},     {8192, -1},
                                  {8192, 16384},  {8191, 8192}, {8192, 8193}, {19999, -1},    {19968, -1},
                                  {19968, 19967}, {600, 512},   {4096, 200},  {12800, 13055}, {-1, -1}};
    enum { SYSTEMS = sizeof rows / sizeof rows[0] };
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        if (check_short() && interleaved == (sizeof(T) == 4)) continue;
        const int chunk = interleaved ? 64 : 256;
        trid_lines lines = interleaved ? trid_lines_interleaved(n, SYSTEMS) : trid_lines_contiguous(n, SYSTEMS);
        field<T> a = make_field<T>(lines, 0), b = make_field<T>(lines, 0), c = make_field<T>(lines, 0),
                 d = make_field<T>(lines, 0), x = make_field<T>(lines, 0);
        for (long long s = 0; s < SYSTEMS; s++)
            for (int j = 0; j < n; j++) {
                long long at = offset(lines, 0, s, j);
                int zero = j == rows[s][0] || j == rows[s][1];
                a[at] = (T)(zero ? 0 : case_between(&dice, -1, 1)), c[at] = (T)(zero ? 0 : case_between(&dice, -1, 1));
                b[at] = (T)(zero ? 0 : 3), d[at] = (T)case_between(&dice, -1, 1);
            }
        upload(a), upload(b), upload(c), upload(d), upload(x);
        int *device_status, status[SYSTEMS];
        float *device_residual, residual[SYSTEMS];
        unsigned long long *device_failed, failed[2];
        GPU_OK(filled((void **)&device_status, sizeof status));
        GPU_OK(filled((void **)&device_residual, sizeof residual));
        GPU_OK(filled((void **)&device_failed, sizeof failed));
        for (int check = 0; check < 3; check++) {
            if (check_short() && check == interleaved) continue;
            told report = {device_status, check == 1 ? device_residual : 0, 0, device_failed};
            int launched = check == 2 ? pivoted(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report)
                           : check    ? checked(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report)
                                      : solve(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report);
            CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
            GPU_OK(cudaMemcpy(status, device_status, sizeof status, cudaMemcpyDeviceToHost));
            GPU_OK(cudaMemcpy(residual, device_residual, sizeof residual, cudaMemcpyDeviceToHost));
            GPU_OK(cudaMemcpy(failed, device_failed, sizeof failed, cudaMemcpyDeviceToHost));
            for (int s = 0; s < SYSTEMS; s++) {
                int first = rows[s][1] >= 0 && rows[s][1] < rows[s][0] ? rows[s][1] : rows[s][0], got = status[s];
                int second = rows[s][0] + rows[s][1] - first, same = second >= 0 && first / chunk == second / chunk;
                int right = check < 2 || first < 0 ? got == first + 1 || (same && got == second + 1) : got == 1;
                CHECK(right, "%s%s%s: rows %d and %d of zeros: status %d", sizeof(T) == 4 ? "f32" : "f64",
                      interleaved ? ", interleaved" : "", check == 2 ? ", pivoted" : "", rows[s][0], rows[s][1], got);
                if (check == 1)
                    CHECK(first < 0 ? residual[s] <= 1e-5f : !(residual[s] <= 1e-5f), "system %d: residual %g", s,
                          (double)residual[s]);
            }
            CHECK(failed[0] == SYSTEMS - 1 && failed[1] == 0, "%llu failed, the first %llu", failed[0], failed[1]);
        }
        field<T> *all[5] = {&a, &b, &c, &d, &x};
        for (field<T> *f : all) GPU_OK(cudaFree(f->device));
        GPU_OK(cudaFree(device_status));
        GPU_OK(cudaFree(device_residual));
        GPU_OK(cudaFree(device_failed));
    }
}

/* Couplings that partitions drop, and others that they must not drop, in systems side by side: b = 2.5, 2.01, 2, and in
   one system 2 in the first half only. There are a few partitions, or so many that their links are systems of their
   own. Each must be solved to within rounding, and twice with the same bits. NaN in a right-hand side must make all of
   x NaN where the couplings do not decay, and some of x in the other systems. */
template <class T>
static void test_coupled()
{
    enum { KINDS = 4 };
    static const double diagonal[KINDS] = {2.5, 2.01, 2, 2};
    static const int sizes[] = {129, 300, 3001, 41000};
    const double unit = sizeof(T) == 4 ? UNIT_F32 : UNIT_F64;
    for (int n : sizes)
        for (int run = 0; run < 4; run++) {
            if (check_short() && n > 10000 && run != 1) continue;
            const int shift = case_below(&dice, 4), in_place = run == 1, with_nan = run == 3;
            const trid_lines lines = {n, 1, KINDS, n + case_below(&dice, 3), 1, 0};
            field<T> a = make_field<T>(lines, shift), b = make_field<T>(lines, shift), c = make_field<T>(lines, shift),
                     d = make_field<T>(lines, shift), x = make_field<T>(lines, shift);
            field<T> *all[5] = {&a, &b, &c, &d, &x};
            for (int s = 0; s < KINDS; s++)
                for (int j = 0; j < n; j++) {
                    const long long at = offset(lines, 0, s, j);
                    a[at] = c[at] = -1, b[at] = (T)(s == 3 && j > n / 2 ? 3 : diagonal[s]);
                    d[at] = (T)(with_nan && j == n / 3 ? NAN : case_between(&dice, -1, 1));
                }
            for (field<T> *f : all) upload(*f);
            std::vector<T> first;
            for (int again = 0; again < 2; again++) {
                upload(d);
#ifdef SIMT_EMULATOR
                simt_multiprocessors(again ? 1 : 4); /* partitions wait for others in vain */
#endif
                const int launched =
                    solve(lines, 0, a.at(), b.at(), c.at(), d.at(), in_place ? d.at() : x.at(), (const told *)0);
                CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
                GPU_OK(cudaMemcpy(x.host.data(), in_place ? d.device : x.device, x.host.size() * sizeof(T),
                                  cudaMemcpyDeviceToHost));
                if (again) CHECK(!memcmp(&first[0], &x.host[0], first.size() * sizeof(T)), "n %d: not the same", n);
                first = x.host;
            }
#ifdef SIMT_EMULATOR
            simt_multiprocessors(4);
#endif
            for (int s = 0; s < KINDS; s++) {
                std::vector<long double> m[5];
                long strange = 0;
                for (int k = 0; k < 5; k++)
                    for (int j = 0; j < n; j++) m[k].push_back((*all[k])[offset(lines, 0, s, j)]);
                for (int j = 0; j < n; j++) strange += m[4][(size_t)j] != m[4][(size_t)j];
                if (with_nan)
                    CHECK(strange > 0 && (diagonal[s] > 2 || s == 3 || strange == n), "n %d, b %g: %ld are NaN", n,
                          diagonal[s], strange);
                else
                    check_near(batch_residual(n, m[0].data(), m[1].data(), m[2].data(), m[3].data(), m[4].data()), 0,
                               16 * unit, "%s n %d, kind %d%s: residual", sizeof(T) == 4 ? "f32" : "f64", n, s,
                               in_place ? ", in place" : "");
            }
            for (field<T> *f : all) GPU_OK(cudaFree(f->device));
        }
}

int main(void)
{
    test_coupled<real>();
    test_levels<real>();
    test_zeros<real>();
    test_refined<real>();
    test_rows<real>();
    test_pivoted<real>();
    if (check_short()) {
        check_skip(1, "every second size and more of the largest, rows of zeros in one layout, known matrices: "
                      "SHORT_TESTS is set");
        return check_report();
    }
#ifndef TEST_BATCH_SINGLE
    test_the_20();
    test_random_signs();
#endif
    return check_report();
}
