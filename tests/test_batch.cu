/* test_batch.cu - trid/batch.h: every layout, size and operation, on a GPU or under tests/simt.
   MIT licence, see LICENSE.

   tests/batch_field.h checks each call. Answers come from pivoted elimination in long double. Launches take minutes to
   compile, so each precision is a program of its own: this one and test_batch_single.cu; test_batch_linked.cu calls the
   functions with C linkage, in both. */
#define TRID_P_BATCH_LEAST_BLOCKS 2 /* so that warps take several tiles of small batches already */
static unsigned narrow_turn;
#define TRID_P_BATCH_NARROW_TILES (narrow_turn++ % 2 ? 2 : 0) /* few systems in narrow and in wide tiles, in turn */
#include "trid/batch.h"

#include "batch_field.h"
#include "pivoted_cases.h"

#ifdef TEST_BATCH_SINGLE
typedef float real;
#else
typedef double real;
#endif

/* Returns whether the short run leaves this case out: of the larger sizes it takes one in four, different ones in each
   precision. */
template <class T>
static int left_out(int n)
{
    static int turn;
    return check_short() && n > 16 && turn++ % 4 != (sizeof(T) == 8);
}

template <class T>
static void test_layouts()
{
    static const int sizes[] = {1,   2,   3,   4,   5,   7,   8,   9,   13,  16,  17,  31,  32,  33,   47,   64,  65,
                                100, 128, 129, 200, 255, 256, 257, 300, 511, 512, 513, 700, 769, 1000, 1023, 1024};
    for (int n : sizes) {
        if (left_out<T>(n)) continue;
        int systems[] = {1, n > 64 ? 5 : 37, n > 256 ? 9 : n > 16 ? 40 : 150};
        int index = 0;
        for (int m : systems) {
            if (index++ == 2 && n > 256 && getenv("SHORT_TESTS")) continue;
            for (const layout &l : layouts(n, m)) {
                if (m > 40 && strcmp(l.name, "contiguous") && strcmp(l.name, "interleaved")) continue;
                if (n > 256 && m > 1 && m < 9 && case_below(&dice, 2)) continue; /* a sample, since these take long */
                test_solve<T>(l.name, l.lines, transposed_or_not(), 0, case_below(&dice, 4));
            }
        }
    }
}

template <class T>
static void test_operations()
{
    static const int sizes[] = {1, 2, 3, 10, 16, 33, 64, 130, 256, 300, 512, 600};
    for (int n : sizes)
        for (const layout &l : layouts(n, n > 100 ? 5 : 35))
            for (int flags = 0; flags < 4 && !left_out<T>(n); flags++)
                for (int in_place = 0; in_place < 2; in_place++) {
                    if (n > 100 && case_below(&dice, 3)) continue;
                    test_solve<T>(l.name, l.lines, flags | transposed_or_not(), in_place, case_below(&dice, 4));
                }
}

/* Tests pivoting: dominant systems in every layout, and systems that need pivots, with a zero diagonal and
   off-diagonals of random sign, which are well conditioned enough if n is even (for odd n such a matrix is singular). A
   launch without pivoting fails at all of the latter; the repair solves those that failed and leaves its own status.
   Also tests dominant systems, one of which has two rows, anywhere, that must be exchanged. */
template <class T>
static void test_pivoted()
{
    static const int sizes[] = {1,   2,   3,   4,   5,   8,   9,   16,  17,  33,   64,
                                100, 128, 255, 256, 300, 384, 385, 512, 513, 1000, 1024};
    for (int n : sizes)
        for (const layout &l : layouts(n, n > 100 ? 5 : 35)) {
            if ((n > 300 && case_below(&dice, 3)) || left_out<T>(n)) continue;
            int add = case_below(&dice, 2);
            test_solve<T>(l.name, l.lines, (add ? TRID_BATCH_ADD : 0) | transposed_or_not(), case_below(&dice, 2),
                          case_below(&dice, 4), 2);
        }
    static const int even[] = {2, 4, 8, 16, 30, 64, 200, 256, 380, 500, 1024};
    const double unit = sizeof(T) == 4 ? UNIT_F32 : UNIT_F64;
    for (int n : even)
        for (int kind = 0; kind < 5; kind++) { /* 2: only the first system needs it; 3, 4: two of its rows */
            const int systems = n > 100 ? 9 : 70, repair = kind < 3 ? kind : 0;
            trid_lines lines = kind < 4 ? trid_lines_contiguous(n, systems) : trid_lines_interleaved(n, systems);
            field<T> a = make_field<T>(lines, 0), b = a, c = a, d = a, x = a;
            field<T> *all[5] = {&a, &b, &c, &d, &x};
            const long long swapped = case_below(&dice, n - 1);
            for (long long i = 0; i < (long long)n * systems; i++) {
                const long long row = i % n, system = i / n, at = offset(lines, 0, (int)system, (int)row);
                const int within = kind < 3 || row == swapped || row == swapped + 1;
                /* every third system is dominant, or all but the first */
                int hard = kind < 2 ? system % 3 != 1 : system == 0 && within;
                /* Products of ratios of neighbours stay near 1: the condition grows with n alone. */
                double size = case_between(&dice, 0.9, 1.1) * (case_below(&dice, 2) ? 1 : -1);
                a[at] = (T)size, c[at] = (T)(size * (row % 2 ? -1 : 1));
                if (hard && kind > 2) (row == swapped ? a : c)[at] = 0;
                b[at] = (T)(hard ? 0 : 3), d[at] = (T)case_between(&dice, -1, 1), x[at] = (T)NAN;
            }
            for (field<T> *f : all) {
                if (f != &a) GPU_OK(filled((void **)&f->device, f->host.size() * sizeof(T)));
                upload(*f);
            }
            int *status;
            unsigned long long *failed, count[2];
            GPU_OK(filled((void **)&status, systems * sizeof(int)));
            GPU_OK(filled((void **)&failed, sizeof count));
            told report = {status, 0, 0, failed};
            if (repair) {
                CHECK(solve(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report) == TRID_BATCH_OK, "solve");
                GPU_OK(cudaMemcpy(count, failed, sizeof count, cudaMemcpyDeviceToHost));
                CHECK(count[0] == (unsigned long long)(repair == 2 ? 1 : systems - (systems + 1) / 3) && count[1] == 0,
                      "n %d: %llu failed without pivoting", n, count[0]);
            }
            if (repair == 2) GPU_OK(cudaMemset(x.device, 0xff, x.host.size() * sizeof(T)));
            int launched =
                pivoted(lines, repair ? TRID_BATCH_REPAIR : 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report);
            CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
            GPU_OK(cudaMemcpy(count, failed, sizeof count, cudaMemcpyDeviceToHost));
            CHECK(count[0] == 0, "n %d: %llu failed with pivoting", n, count[0]);
            GPU_OK(cudaMemcpy(x.host.data(), x.device, x.host.size() * sizeof(T), cudaMemcpyDeviceToHost));
            double worst = 0;
            if (repair == 2) {
                T last = x[(long long)(systems - 1) * n];
                CHECK(last != last, "n %d: the last system has been solved again", n);
            }
            for (int s = 0; s < (repair == 2 ? 1 : systems); s++) {
                std::vector<long double> m[5];
                for (int k = 0; k < 5; k++)
                    for (int j = 0; j < n; j++) m[k].push_back((*all[k])[offset(lines, 0, s, j)]);
                double r = batch_residual(n, m[0].data(), m[1].data(), m[2].data(), m[3].data(), m[4].data());
                if (!(r <= worst)) worst = r;
            }
            /* Pivoting keeps the residual at some unit roundoffs, whatever the condition number. */
            check_near(worst, 0, 64 * unit, "pivoted %s n %d, kind %d: residual", sizeof(T) == 4 ? "f32" : "f64", n,
                       kind);
            for (field<T> *f : all) GPU_OK(cudaFree(f->device));
            GPU_OK(cudaFree(status));
            GPU_OK(cudaFree(failed));
        }
}

/* Tests so many tiles that a block of a persistent launch takes several, in several groups. */
template <class T>
static void test_many_tiles()
{
    static const int sizes[] = {3, 7, 16, 20, 50, 100, 256, 400, 600};
    for (int n : sizes)
        for (int check = 0; check < 2; check++) {
            if (left_out<T>(n)) continue;
            trid_lines lines = {n, 33, 33, 1, n > 16 && n < 200 ? 19 : 9, 33 * n + 1};
            if (n < 500)
                test_solve<T>("many shared",
                              trid_lines_contiguous(n, n < 30    ? 999
                                                       : n < 200 ? 201
                                                                 : 61),
                              TRID_BATCH_SHARED | transposed_or_not(), case_below(&dice, 2), 1, check);
            silent = case_below(&dice, 2);
            test_solve<T>("many tiles", lines, (check ? TRID_BATCH_REFINED : 0) | transposed_or_not(),
                          case_below(&dice, 2), 1, check);
            silent = 0;
        }
}

/* Tests interleaved systems in arrays that are aligned to 16 bytes, with pitches that keep them aligned, so that tiles
   are loaded in pieces of 16 bytes: full tiles, and tiles that end within a piece; several tiles a block; a last
   partition of one row. */
template <class T>
static void test_wide()
{
    static const int sizes[] = {2,   4,   5,   8,   9,   13,  16,  17,  31,  32,  47,  64,  100, 128,
                                129, 160, 161, 200, 255, 256, 257, 300, 511, 512, 513, 769, 1024};
    for (int n : sizes) {
        long long few = n > 200 ? 4 : 12, many = n > 200 ? 36 : n > 32 ? 140 : 268;
        const layout list[] = {
            {"wide, one piece", {n, 4, 4, 1, 1, 0}},
            {"wide", {n, few, few, 1, 1, 0}},
            {"wide, padded", {n, few + 8, few, 1, 1, 0}},
            {"wide, backward", {n, -few, few, 1, 1, 0}},
            {"wide, y lines", {n, few, few, 1, 5, few * n + 4}},
            {"wide, many", {n, many, many, 1, 1, 0}},
            {"wide, many y lines", {n, 64, 64, 1, n > 200 ? 2 : 4, -(64 * n + 4)}},
            {"blocks of columns", {n, 8, 8, 1, n > 200 ? 3 : 19, 8 * n}},
            {"half wide", {n, few, few - 2, 1, 1, 0}},          /* pieces of whole systems only in double precision */
            {"half wide, y lines", {n, 8, 8, 1, 3, 8 * n + 2}}, /* and jumps */
            {"not wide, odd pitch", {n, few + 1, few, 1, 1, 0}},
        };
        for (const layout &l : list) {
            if ((l.lines.systems > 30 && n > 200 && case_below(&dice, 2)) || left_out<T>(n)) continue;
            int add = case_below(&dice, 2) ? TRID_BATCH_ADD : 0;
            silent = case_below(&dice, 2);
            test_solve<T>(l.name, l.lines, add | transposed_or_not(), case_below(&dice, 2), ALIGNED,
                          case_below(&dice, 4) == 0);
            silent = 0;
        }
    }
}

template <class T>
static void test_checked()
{
    static const int sizes[] = {1, 2, 3, 7, 10, 16, 33, 100, 130, 257, 600, 1024};
    for (int n : sizes)
        for (const layout &l : layouts(n, n > 100 ? 3 : 35))
            for (int flags = 0; flags < 8; flags++) {
                if ((flags || n > 512) && case_below(&dice, n > 512 ? 6 : n > 100 ? 4 : 2)) continue;
                if (flags && check_short() && case_below(&dice, 2)) continue;
                test_solve<T>(l.name, l.lines, flags | transposed_or_not(),
                              (flags & TRID_BATCH_REFINED) && case_below(&dice, 2), case_below(&dice, 4), 1);
            }
    for (int n = 16; n <= 512; n *= 2) /* full tiles, aligned: pieces of 16 bytes */
        for (int flags = 0; flags < 8; flags++)
            if (!(flags & TRID_BATCH_SHARED))
                test_solve<T>("aligned", trid_lines_contiguous(n, n > 100 ? 8 : 64), flags, 0, ALIGNED, 1);
}

/* Tests batches in which some systems fail: the others are solved, and the report says which failed. Kinds: 0 without
   fault; 1 the first row is zero; 2 NaN on the last diagonal; 3 a first pivot far below the roundoff of the others,
   which no pivot shows; 4 singular across two partitions; 5 as 3, in the first row of the second partition, which
   another thread holds; 6 the last row and column are zero. With pivoting 3 and 5 are no faults, and the others have
   the status 1 (4 perhaps 0). */
template <class T>
static void test_failures()
{
    static const int sizes[] = {2, 3, 8, 15, 64, 100, 250, 512, 700, 1024};
    const double unit = sizeof(T) == 4 ? UNIT_F32 : UNIT_F64;
    for (int n : sizes)
        for (const layout &l : layouts(n, n > 200 ? 7 : 41)) {
            const trid_lines &lines = l.lines;
            if (n > 200 && case_below(&dice, 2)) continue;
            field<T> a = make_field<T>(lines, 0), b = a, c = a, d = a, x = a;
            field<T> *all[5] = {&a, &b, &c, &d, &x};
            size_t systems = (size_t)(lines.systems * lines.groups);
            std::vector<int> kind(systems), status(systems);
            std::vector<float> residual(systems);
            for (size_t k = 0; k < systems; k++) {
                long long g = (long long)k / lines.systems, s = (long long)k % lines.systems;
                kind[k] = case_below(&dice, 3) ? 0 : 1 + case_below(&dice, n <= 17 ? 3 : n > 512 ? 4 : 5);
                if (kind[k] == 1 && case_below(&dice, 2)) kind[k] = 6;
                for (int j = 0; j < n; j++) {
                    long long at = offset(lines, g, s, j);
                    a[at] = (T)case_between(&dice, 0.5, 1), c[at] = (T)case_between(&dice, 0.5, 1);
                    b[at] = (T)case_between(&dice, 2.5, 3), d[at] = (T)case_between(&dice, 0.5, 1);
                    x[at] = (T)NAN;
                }
                long long top = offset(lines, g, s, 0), end = offset(lines, g, s, n - 1);
                if (kind[k] == 1) b[top] = c[top] = 0;
                if (kind[k] == 2) b[end] = (T)NAN;
                if (kind[k] == 6) a[end] = b[end] = c[offset(lines, g, s, n - 2)] = 0;
                if (kind[k] == 3) b[top] = (T)(unit / 256);
                if (kind[k] == 5) b[offset(lines, g, s, 16)] = (T)(unit / 256);
                if (kind[k] == 4) { /* rows 15 and 16, in two partitions if these have 16 rows, are equal */
                    long long upper = offset(lines, g, s, 15), lower = offset(lines, g, s, 16);
                    a[upper] = c[lower] = 0;
                    b[upper] = c[upper] = a[lower] = b[lower] = 1;
                }
            }
            int *device_status;
            float *device_residual;
            unsigned long long failed[2], *device_failed;
            GPU_OK(filled((void **)&device_status, systems * sizeof(int)));
            GPU_OK(filled((void **)&device_residual, systems * sizeof(float)));
            GPU_OK(filled((void **)&device_failed, sizeof failed));
            for (field<T> *f : all) {
                if (f != &a) GPU_OK(filled((void **)&f->device, f->host.size() * sizeof(T)));
                upload(*f);
            }
            for (int check = 0; check < 3; check++) {
                if (check == 2 && check_short() && case_below(&dice, 4)) continue;
                told report = {device_status, check < 2 ? device_residual : 0, 0, device_failed};
                int launched = check == 2 ? pivoted(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report)
                               : check    ? checked(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report)
                                          : solve(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report);
                CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
                GPU_OK(cudaMemcpy(status.data(), device_status, systems * sizeof(int), cudaMemcpyDeviceToHost));
                GPU_OK(cudaMemcpy(residual.data(), device_residual, systems * sizeof(float), cudaMemcpyDeviceToHost));
                GPU_OK(cudaMemcpy(failed, device_failed, sizeof failed, cudaMemcpyDeviceToHost));
                unsigned long long count = 0, first = ~0ull;
                long wrong = 0;
                for (size_t k = 0; k < systems; k++) {
                    int want = kind[k] == 1                                   ? 1
                               : kind[k] == 6                                 ? (check == 2 ? 1 : n)
                               : (kind[k] == 3 || kind[k] == 5) && check == 1 ? n + 1
                                                                              : 0;
                    /* NaN spreads through the partition before a pivot meets it, so any row up to the last is right. */
                    int right = kind[k] == 2 || kind[k] == 4 ? status[k] >= 1 && status[k] <= n : status[k] == want;
                    if (check == 2 && kind[k] == 2) right = status[k] == 1;
                    if (check == 2 && kind[k] == 4) right = status[k] <= 1; /* rounding may make the two rows differ */
                    if (check == 1 && (kind[k] == 3 || kind[k] == 5)) right = right && residual[k] > 1e-4f;
                    if (check == 1 && kind[k] == 0) right = right && residual[k] <= (float)(16 * unit);
                    if (check == 1 && kind[k] == 2) right = right && !(residual[k] <= 1e-4f); /* NaN stays NaN */
                    wrong += !right;
                    if (status[k]) count++, first = first == ~0ull ? k : first;
                }
                CHECK(!wrong, "%s %s n %d, checked %d: %ld of %zu reports wrong", l.name,
                      sizeof(T) == 4 ? "f32" : "f64", n, check, wrong, systems);
                CHECK(failed[0] == count && failed[1] == first, "%s n %d: failed %llu, first %llu, want %llu, %llu",
                      l.name, n, failed[0], failed[1], count, first);
            }
            for (field<T> *f : all) GPU_OK(cudaFree(f->device));
            GPU_OK(cudaFree(device_status));
            GPU_OK(cudaFree(device_residual));
            GPU_OK(cudaFree(device_failed));
        }
}

/* Checks that a residual whose |A| |x| + |d| overflows is told. A first pivot far below the roundoff leaves x[0] = 0 in
   place of s, and the second row, of large numbers, is wrong by a third of its terms; their sum is beyond the range. */
template <class T>
static void test_overflow()
{
    const int most = sizeof(T) == 4 ? 128 : 1024;
    const T tiny = (T)ldexp(1, sizeof(T) == 4 ? -32 : -61), large = (T)ldexp(1, 80), s = (T)ldexp(1.75, most - 82);
    for (int n : {2, 40, 300})
        for (int interleaved = 0; interleaved < 2; interleaved++) {
            enum { SYSTEMS = 5, SPOILT = 2 };
            const trid_lines lines =
                interleaved ? trid_lines_interleaved(n, SYSTEMS) : trid_lines_contiguous(n, SYSTEMS);
            field<T> a = make_field<T>(lines, 0), b = a, c = a, d = a, x = a;
            field<T> *all[5] = {&a, &b, &c, &d, &x};
            for (int i = 0; i < n * SYSTEMS; i++) a[i] = c[i] = 0, b[i] = d[i] = 1;
            const long long top = offset(lines, 0, SPOILT, 0), second = offset(lines, 0, SPOILT, 1);
            b[top] = tiny, c[top] = 1, d[top] = s;
            a[second] = b[second] = large, d[second] = 2 * large * s;
            for (field<T> *f : all) {
                if (f != &a) GPU_OK(filled((void **)&f->device, f->host.size() * sizeof(T)));
                upload(*f);
            }
            int *device_status, status[SYSTEMS];
            float *device_residual, residual[SYSTEMS];
            GPU_OK(filled((void **)&device_status, sizeof status));
            GPU_OK(filled((void **)&device_residual, sizeof residual));
            told report = {device_status, device_residual, 0, 0};
            int launched = checked(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report);
            CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
            GPU_OK(cudaMemcpy(status, device_status, sizeof status, cudaMemcpyDeviceToHost));
            GPU_OK(cudaMemcpy(residual, device_residual, sizeof residual, cudaMemcpyDeviceToHost));
            for (int i = 0; i < SYSTEMS; i++)
                CHECK(i == SPOILT ? status[i] == n + 1 && !(residual[i] <= 1) : status[i] == 0 && residual[i] == 0,
                      "n %d, system %d beyond the range: status %d, residual %g", n, i, status[i], (double)residual[i]);
            for (field<T> *f : all) GPU_OK(cudaFree(f->device));
            GPU_OK(cudaFree(device_status));
            GPU_OK(cudaFree(device_residual));
        }
}

/* Tests matrices that are only just dominant, where elimination by partitions of K rows leaves many unit roundoffs. A
   step of refinement leaves a few, as long as K^2.5 (dominance - 1) exceeds the root of the unit roundoff
   (docs/hybrid.md), which these margins do for K >= 8. The residual is computed on the host. */
template <class T>
static void test_refined()
{
    static const int sizes[] = {8, 64, 100, 256, 600, 1024};
    const double unit = sizeof(T) == 4 ? UNIT_F32 : UNIT_F64, margin = sizeof(T) == 4 ? 2e-6 : 1e-10;
    double hardest = 0;
    for (int n : sizes)
        for (int interleaved = 0; interleaved < 2; interleaved++) {
            const int systems = n > 200 ? 8 : 64;
            trid_lines lines = interleaved ? trid_lines_interleaved(n, systems) : trid_lines_contiguous(n, systems);
            field<T> a = make_field<T>(lines, 0), b = a, c = a, d = a, x = a;
            field<T> *all[5] = {&a, &b, &c, &d, &x};
            for (long long at = 0; at < (long long)n * systems; at++) {
                a[at] = (T)case_between(&dice, -1, -0.01), c[at] = (T)case_between(&dice, -1, -0.01);
                b[at] = (T)((fabs((double)a[at]) + fabs((double)c[at])) * (1 + margin));
                d[at] = (T)case_between(&dice, 0.5, 1), x[at] = (T)NAN;
            }
            for (field<T> *f : all) {
                if (f != &a) GPU_OK(filled((void **)&f->device, f->host.size() * sizeof(T)));
                upload(*f);
            }
            double worst[2] = {0, 0};
            for (int refined = 0; refined < 2; refined++) {
                int launched =
                    checked(lines, refined ? TRID_BATCH_REFINED : 0, a.at(), b.at(), c.at(), d.at(), x.at(), 0);
                CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
                GPU_OK(cudaMemcpy(x.host.data(), x.device, x.host.size() * sizeof(T), cudaMemcpyDeviceToHost));
                for (int s = 0; s < systems; s++) {
                    std::vector<long double> m[5];
                    for (int k = 0; k < 5; k++)
                        for (int j = 0; j < n; j++) m[k].push_back((*all[k])[offset(lines, 0, s, j)]);
                    double r = batch_residual(n, m[0].data(), m[1].data(), m[2].data(), m[3].data(), m[4].data());
                    if (!(r <= worst[refined])) worst[refined] = r;
                }
            }
            hardest = std::max(hardest, worst[0]);
            check_near(worst[1], 0, 8 * unit, "refined n %d, interleaved %d, before %g", n, interleaved, worst[0]);
            for (field<T> *f : all) GPU_OK(cudaFree(f->device));
        }
    CHECK(hardest > 8 * unit, "%g unit roundoffs: there was nothing to refine", hardest / unit);
}

/* Copies systems of n rows to the arrays of a launch, in the layout of the lines. */
static void pack(const trid_lines &lines, const std::vector<case_system> &systems, field<double> *all[5])
{
    for (int k = 0; k < 5; k++) *all[k] = make_field<double>(lines, 0);
    for (size_t s = 0; s < systems.size(); s++)
        for (int j = 0; j < lines.n; j++) {
            long long at = offset(lines, 0, (long long)s, j);
            (*all[0])[at] = systems[s].a[j], (*all[1])[at] = systems[s].b[j], (*all[2])[at] = systems[s].c[j];
            (*all[3])[at] = systems[s].d[j], (*all[4])[at] = NAN;
        }
    for (int k = 0; k < 5; k++) upload(*all[k]);
}

/* Returns the solution of system s. */
static std::vector<double> unpack(const trid_lines &lines, field<double> &x, size_t s)
{
    std::vector<double> of((size_t)lines.n);
    for (int j = 0; j < lines.n; j++) of[(size_t)j] = x[offset(lines, 0, (long long)s, j)];
    return of;
}

/* Returns the largest error of an unknown relative to itself, but at least a few roundoffs; NaN if any x is NaN. */
static double worst_unknown(const std::vector<double> &x, const std::vector<case_wide> &y)
{
    double error = 4 * UNIT_F64;
    for (size_t j = 0; j < x.size(); j++) {
        double e = fabs((double)(x[j] / y[j] - 1));
        if (!(e <= error)) error = e;
    }
    return error;
}

/* Tests the 20 matrices of pivoted_cases.h with 512 rows, in double precision, each with some right-hand sides. Checked
   without pivoting, dominant systems are right to 1e-14, and no other system is wrong in silence: if it is not flagged,
   its residual, computed here in more than double precision, is within the tolerance. Flagged systems are then
   repaired; their errors must be within a factor of 10 of LAPACK's, in the mean of the logarithms over the matrices and
   right-hand sides of a kind, and those of number 16 within 1e-12 each. Finally all are solved with pivoting alone. */
CASE_FUNCTION void test_the_20()
{
    enum { ROWS = 512, SEED = 20240815, SEEDS = 2, SIDES = 8, EACH = SEEDS * SIDES };
    static const bool dominant[20] = {false, true,  true,  false, false, true,  true, false, false, false,
                                      false, false, false, false, false, false, true, true,  true,  true};
    const double least = 4 * UNIT_F64;
    case_random random = {SEED};
    std::vector<case_system> systems; /* EACH systems of every number */
    std::vector<std::vector<case_wide>> answer;
    std::vector<double> lapack;
    for (int number = 1; number <= 20; number++)
        for (int k = 0; k < EACH; k++) {
            case_system s = k % SIDES ? case_new(ROWS) : pivoted_matrix(number, ROWS, (unsigned long long)(SEED + k));
            if (k % SIDES) { /* another right-hand side */
                memcpy(s.a, systems.back().a, 4 * ROWS * sizeof(double));
                pivoted_renew(&random, s);
            }
            std::vector<case_wide> y(ROWS), work(3 * ROWS);
            std::vector<double> x(ROWS), rounded(3 * ROWS);
            CHECK(pivoted_gtsv_wide(s, y.data(), work.data()) == 0, "matrix %d: singular", number);
            pivoted_gtsv_f64(s, x.data(), rounded.data());
            systems.push_back(s);
            answer.push_back(y);
            lapack.push_back(std::max(pivoted_error(ROWS, x.data(), y.data()), least));
        }
    const size_t count = systems.size();
    const trid_lines layouts_of_20[2] = {trid_lines_contiguous(ROWS, (long long)count),
                                         trid_lines_interleaved(ROWS, (long long)count)};
    for (int layout = 0; layout < 2; layout++)
        for (int way = 0; way < 3; way++) { /* checked, refined, pivoted alone */
            if (check_short() && (layout + way) % 2) continue;
            const trid_lines &lines = layouts_of_20[layout];
            const char *name = layout ? "interleaved" : "contiguous";
            field<double> a, b, c, d, x, *all[5] = {&a, &b, &c, &d, &x};
            pack(lines, systems, all);
            std::vector<int> status(count, 77);
            std::vector<float> residual(count, -1);
            int *device_status;
            float *device_residual;
            unsigned long long *device_failed, failed[2];
            GPU_OK(filled((void **)&device_status, count * sizeof(int)));
            GPU_OK(filled((void **)&device_residual, count * sizeof(float)));
            GPU_OK(filled((void **)&device_failed, sizeof failed));
            told report = {device_status, way < 2 ? device_residual : 0, 0, device_failed};
            auto back = [&] {
                GPU_OK(cudaMemcpy(x.host.data(), x.device, x.host.size() * sizeof(double), cudaMemcpyDeviceToHost));
                GPU_OK(cudaMemcpy(status.data(), device_status, count * sizeof(int), cudaMemcpyDeviceToHost));
                GPU_OK(cudaMemcpy(failed, device_failed, sizeof failed, cudaMemcpyDeviceToHost));
            };
            if (way < 2) {
                int launched =
                    checked(lines, way ? TRID_BATCH_REFINED : 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report);
                CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
                back();
                size_t flagged = 0;
                for (size_t k = 0; k < count; k++) {
                    int number = 1 + (int)k / EACH;
                    std::vector<double> got = unpack(lines, x, k);
                    double error = pivoted_error(ROWS, got.data(), answer[k].data());
                    flagged += status[k] != 0;
                    if (dominant[number - 1])
                        CHECK(status[k] == 0 && error <= 1e-14, "%s way %d matrix %d: status %d, error %g", name, way,
                              number, status[k], error);
                    if (status[k]) continue;
                    double left = (double)case_residual(systems[k], got.data());
                    CHECK(left <= 132 * UNIT_F64, "%s way %d matrix %d: status 0 with a residual of %g", name, way,
                          number, left);
                }
                CHECK(failed[0] == flagged && flagged >= 2 * EACH, "%s way %d: %zu flagged, %llu counted", name, way,
                      flagged, failed[0]);
            }
            std::vector<int> before = way < 2 ? status : std::vector<int>(count, 1);
            int launched =
                pivoted(lines, way < 2 ? TRID_BATCH_REPAIR : 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report);
            CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
            back();
            CHECK(failed[0] == 0, "%s way %d: %llu failed with pivoting", name, way, failed[0]);
            for (int number = 1; number <= 20; number++) {
                double ratio = 0;
                int solved = 0;
                for (size_t k = (size_t)(number - 1) * EACH; k < (size_t)number * EACH; k++) {
                    if (!before[k] || lapack[k] > 0.1) continue;
                    double error = pivoted_error(ROWS, unpack(lines, x, k).data(), answer[k].data());
                    CHECK(number != 16 || error <= 1e-12, "%s way %d matrix 16: error %g", name, way, error);
                    ratio += log(error <= least ? least : error) - log(lapack[k]);
                    solved++;
                }
                CHECK(ratio <= solved * log(10.0), "%s way %d matrix %d (%s): %g times LAPACK's error", name, way,
                      number, pivoted_name[number - 1], exp(ratio / solved));
            }
            for (field<double> *f : all) GPU_OK(cudaFree(f->device));
            GPU_OK(cudaFree(device_status));
            GPU_OK(cudaFree(device_residual));
            GPU_OK(cudaFree(device_failed));
        }
    for (const case_system &s : systems) case_free(s);
}

/* Tests trid_batch_pivoted on random entries of random sign: with a diagonal, without, and with rows or columns
   multiplied by powers of ten, 1e-150 .. 1e150. Residuals are some unit roundoffs. If columns are scaled, unknowns
   differ in size, so the error of each is compared with LAPACK's, which does not depend on such a scaling, in the mean
   of the logarithms. */
CASE_FUNCTION void test_random_signs()
{
    enum { KINDS = 4, NO_DIAGONAL = 1, ROWS_SCALED = 2, COLUMNS_SCALED = 3, SYSTEMS = 40 };
    static const int sizes[] = {1, 2, 3, 4, 8, 30, 64, 65, 130, 255, 256, 400, 512, 1024};
    for (int kind = 0; kind < KINDS; kind++)
        for (int n : sizes) {
            if (kind == NO_DIAGONAL && n % 2) continue; /* singular */
            int interleaved = case_below(&dice, 3) == 0;
            trid_lines lines = interleaved ? trid_lines_interleaved(n, SYSTEMS) : trid_lines_contiguous(n, SYSTEMS);
            std::vector<case_system> systems;
            std::vector<std::vector<case_wide>> answer;
            double lapack = 0, errors = 0, worst = 0;
            for (int k = 0; k < SYSTEMS; k++) {
                case_system s = case_new(n);
                std::vector<double> x((size_t)n), work(3 * (size_t)n);
                for (int j = 0; j < n; j++) {
                    s.a[j] = case_between(&dice, -1, 1);
                    s.b[j] = kind == NO_DIAGONAL ? 0 : case_between(&dice, -1, 1);
                    s.c[j] = case_between(&dice, -1, 1);
                    x[(size_t)j] = case_between(&dice, 1, 2) * (case_below(&dice, 2) ? 1 : -1);
                }
                for (int j = 0; j < n; j++) {
                    double power = pow(10, case_below(&dice, 301) - 150);
                    if (kind == ROWS_SCALED) s.a[j] *= power, s.b[j] *= power, s.c[j] *= power;
                    if (kind == COLUMNS_SCALED) {
                        s.b[j] *= power, x[(size_t)j] /= power;
                        if (j > 0) s.c[j - 1] *= power;
                        if (j + 1 < n) s.a[j + 1] *= power;
                    }
                }
                pivoted_right_hand_side(s, x.data());
                std::vector<case_wide> y((size_t)n), wide(3 * (size_t)n);
                CHECK(pivoted_gtsv_wide(s, y.data(), wide.data()) == 0, "n %d kind %d: singular", n, kind);
                pivoted_gtsv_f64(s, x.data(), work.data());
                systems.push_back(s);
                answer.push_back(y);
                lapack += log(worst_unknown(x, y)) / SYSTEMS;
            }
            field<double> a, b, c, d, x, *all[5] = {&a, &b, &c, &d, &x};
            pack(lines, systems, all);
            unsigned long long *device_failed, failed[2];
            GPU_OK(filled((void **)&device_failed, sizeof failed));
            told report = {0, 0, 0, device_failed};
            int launched = pivoted(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report);
            CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
            GPU_OK(cudaMemcpy(x.host.data(), x.device, x.host.size() * sizeof(double), cudaMemcpyDeviceToHost));
            GPU_OK(cudaMemcpy(failed, device_failed, sizeof failed, cudaMemcpyDeviceToHost));
            CHECK(failed[0] == 0, "n %d kind %d: %llu systems failed", n, kind, failed[0]);
            for (size_t k = 0; k < SYSTEMS; k++) {
                std::vector<double> got = unpack(lines, x, k);
                double left = (double)case_residual(systems[k], got.data());
                if (!(left <= worst)) worst = left;
                errors += log(worst_unknown(got, answer[k])) / SYSTEMS;
            }
            check_near(worst, 0, 16 * UNIT_F64, "pivoted n %d kind %d: residual", n, kind);
            if (kind == COLUMNS_SCALED)
                CHECK(errors <= log(10.0) + lapack, "columns scaled, n %d: error %g, LAPACK's %g", n, exp(errors),
                      exp(lapack));
            for (field<double> *f : all) GPU_OK(cudaFree(f->device));
            GPU_OK(cudaFree(device_failed));
            for (const case_system &s : systems) case_free(s);
        }
}

/* A function object that makes a matrix from the system's index and the row: the second difference with a diagonal of
   its own. Nobody uses a of row 0 and c of row n-1. */
struct made_rows {
    double size;
    int n;
    template <class T>
    __host__ __device__ void operator()(long long system, int row, T *a, T *b, T *c) const
    {
        *a = (T)(row > 0 ? -1 - 0.125 * (double)(row % 3) : NAN);
        *c = (T)(row < n - 1 ? -1 : NAN);
        *b = (T)(size + 0.25 * (double)(system % 5) + 0.125 * (double)(row % 2));
    }
};

CASE_FUNCTION int solve_rows(trid_lines lines, int flags, made_rows rows, const float *d, float *x)
{
    scratch_memory scratch(lines, flags, sizeof *x);
    return trid_batch_solve_rows_f32(lines, rows, d, x, asked(flags, 0, &scratch), 0);
}
CASE_FUNCTION int solve_rows(trid_lines lines, int flags, made_rows rows, const double *d, double *x)
{
    scratch_memory scratch(lines, flags, sizeof *x);
    return trid_batch_solve_rows_f64(lines, rows, d, x, asked(flags, 0, &scratch), 0);
}

template <class T>
static void test_rows()
{
    static const int sizes[] = {1, 2, 3, 10, 16, 33, 64, 130, 256, 257, 512, 600, 1024};
    const double tolerance = 128 * (sizeof(T) == 4 ? UNIT_F32 : UNIT_F64);
    for (int n : sizes)
        for (const layout &l : layouts(n, n > 100 ? 3 : 35)) {
            const trid_lines &lines = l.lines;
            field<T> d = make_field<T>(lines, 1), x = make_field<T>(lines, 1);
            made_rows rows = {3.25, n};
            for (T &v : d.host) v = (T)case_between(&dice, -1, 1);
            for (T &v : x.host) v = (T)NAN;
            upload(d), upload(x);
            int launched = solve_rows(group_left_out(lines), 0, rows, d.at(), x.at());
            CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
            GPU_OK(cudaMemcpy(x.host.data(), x.device, x.host.size() * sizeof(T), cudaMemcpyDeviceToHost));
            double worst = 0;
            std::vector<long double> la((size_t)n), lb((size_t)n), lc((size_t)n), ld((size_t)n), lx((size_t)n);
            for (long long g = 0; g < lines.groups; g++)
                for (long long s = 0; s < lines.systems; s++) {
                    for (int j = 0; j < n; j++) {
                        T ra, rb, rc;
                        rows(g * lines.systems + s, j, &ra, &rb, &rc);
                        la[(size_t)j] = ra, lb[(size_t)j] = rb, lc[(size_t)j] = rc;
                        ld[(size_t)j] = d[offset(lines, g, s, j)];
                    }
                    batch_answer(n, la.data(), lb.data(), lc.data(), ld.data(), lx.data());
                    for (int j = 0; j < n; j++) {
                        double e = (double)fabsl(x[offset(lines, g, s, j)] - lx[(size_t)j]);
                        if (!(e <= worst)) worst = e;
                    }
                }
            check_near(worst, 0, tolerance, "%s rows n %d", l.name, n);
            GPU_OK(cudaFree(d.device));
            GPU_OK(cudaFree(x.device));
        }
}

/* Tests more than 1024 rows: blocks of several warps, around the sizes that they hold, and two levels, without forced
   limits. */
template <class T>
static void test_more_than_1024()
{
    static const int sizes[] = {1025, 1537, 2048, 2049, 3072, 4095, 4096, 4097, 5000};
    for (int n : sizes) {
        if (left_out<T>(n)) continue;
        const trid_lines some[] = {trid_lines_contiguous(n, 2),
                                   {n, 1, 2, n + 3, 1, 0},
                                   {n, 2, 2, 2ll * n + 1, 1, 0},
                                   trid_lines_interleaved(n, 3)};
        for (const trid_lines &lines : some)
            for (int check = 0; check < 3; check++) {
                if (&lines != some && case_below(&dice, 3)) continue;
                int flags = (case_below(&dice, 2) ? TRID_BATCH_ADD : 0) | transposed_or_not();
                if (check == 1 && case_below(&dice, 2)) flags |= TRID_BATCH_REFINED;
                test_solve<T>("more than 1024 rows", lines, flags, case_below(&dice, 2), case_below(&dice, 4), check);
            }
    }
}

/* Checks that the status names a row of zeros, wherever in a chunk of 512 rows it is. */
CASE_FUNCTION void test_zero_rows()
{
    static const int n = 2100, zero[] = {700, 511, -1, 512, 0, 2099};
    enum { SYSTEMS = sizeof zero / sizeof *zero };
    const trid_lines lines = trid_lines_contiguous(n, SYSTEMS);
    field<double> a = make_field<double>(lines, 0), b = a, c = a, d = a;
    for (long long s = 0; s < SYSTEMS; s++)
        for (int j = 0; j < n; j++) {
            const long long at = offset(lines, 0, s, j);
            a[at] = c[at] = j == zero[s] ? 0 : 1, b[at] = j == zero[s] ? 0 : 3, d[at] = 1;
        }
    int *device_status, status[SYSTEMS];
    GPU_OK(filled((void **)&device_status, sizeof status));
    const told report = {device_status, 0, 0, 0};
    field<double> *all[4] = {&a, &b, &c, &d};
    for (field<double> *f : all) {
        if (f != &a) GPU_OK(filled((void **)&f->device, f->host.size() * sizeof(double)));
        upload(*f);
    }
    int launched = solve(lines, 0, a.at(), b.at(), c.at(), d.at(), d.at(), &report);
    CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
    GPU_OK(cudaMemcpy(status, device_status, sizeof status, cudaMemcpyDeviceToHost));
    for (int s = 0; s < SYSTEMS; s++) CHECK(status[s] == 1 + zero[s], "zero row %d: status %d", zero[s], status[s]);
    for (field<double> *f : all) GPU_OK(cudaFree(f->device));
    GPU_OK(cudaFree(device_status));
}

#ifndef TEST_BATCH_LONG /* test_batch_long.cu includes this file, and has limits and a main of its own */
/* Checks that the exact search for elements that coincide agrees with trying all pairs. */
CASE_FUNCTION void test_lines()
{
    for (int i = 0; i < 20000; i++) {
        trid_lines l = {1 + case_below(&dice, 5),   case_below(&dice, 25) - 12, 1 + case_below(&dice, 5),
                        case_below(&dice, 25) - 12, 1 + case_below(&dice, 4),   case_below(&dice, 61) - 30};
        std::vector<long long> places;
        for (long long g = 0; g < l.groups; g++)
            for (long long s = 0; s < l.systems; s++)
                for (long long j = 0; j < l.n; j++) places.push_back(offset(l, g, s, j));
        std::sort(places.begin(), places.end());
        int twice = std::adjacent_find(places.begin(), places.end()) != places.end();
        int status = trid_lines_check(l);
        CHECK(status == (twice ? TRID_BATCH_OVERLAP : TRID_BATCH_OK), "lines %lld %lld %lld %lld %lld %lld: %d", l.n,
              l.step, l.systems, l.stride, l.groups, l.jump, status);
        long long apart = case_below(&dice, 4 * 40) - 80; /* in halves of an element */
        int meet = 0;
        for (long long p : places)
            for (long long q : places) meet |= llabs(4 * p - 4 * q - 2 * apart) < 4;
        const char *base = (const char *)(size_t)4096;
        CHECK(trid_lines_overlap(l, base, base + 2 * apart, 4) == meet,
              "overlap of %lld %lld %lld %lld %lld %lld at %lld", l.n, l.step, l.systems, l.stride, l.groups, l.jump,
              apart);
        trid_lines none = l;
        none.groups = 0;
        if (l.groups == 1)
            CHECK(trid_lines_check(none) == status && trid_lines_overlap(none, base, base + 2 * apart, 4) == meet,
                  "no groups of %lld %lld %lld %lld", l.n, l.step, l.systems, l.stride);
    }
    /* 2 stride - step = 3. An index modulo one pitch, times the other pitch, does not fit a long long. */
    const trid_lines huge = {3, (1ll << 53) - 1, 3, (1ll << 52) + 1, 1, 0};
    for (int apart = 1; apart < 10; apart++)
        CHECK(trid_lines_overlap(huge, (void *)4096, (void *)(size_t)(4096 + apart), 1) == (apart == 3),
              "huge pitches, %d elements apart", apart);
    const long long far = 1ll << 61;
    const trid_lines bad[] = {{-1, 1, 1, 1, 1, 1},
                              {1, 1, -1, 1, 1, 1},
                              {1, 1, 1, 1, -1, 1},
                              {2, far, 1, 1, 1, 1},
                              {2, 1, far, 2, 1, 1},
                              {2, -far, 1, 1, 1, 1},
                              {1 << 30, 1, 1 << 30, 1 << 30, 2, 1},
                              {2, 1, 1ll << 40, 1ll << 40, 1, 1},
                              trid_lines_contiguous(1 << 30, 1 << 30),
                              trid_lines_axis(2, 2, 2, 3),
                              trid_lines_axis(-3, -4, 5, 2),
                              trid_lines_axis(3, -4, -5, 0),
                              trid_lines_axis(3, 0, -1, 1),
                              trid_lines_axis(1ll << 32, 1ll << 32, 1, 2)};
    for (const trid_lines &l : bad) CHECK(trid_lines_check(l) == TRID_BATCH_BAD_SIZE, "%lld %lld", l.n, l.systems);
    /* The largest lines that are accepted: the scratch for each flag fits a long long. */
    for (int n_log2 = 12; n_log2 <= 30; n_log2++)
        for (int interleaved = 0; interleaved < 2; interleaved++) {
            const long long n = 1ll << n_log2, systems = (1ll << 56) / n, bytes = n * systems * 8;
            const trid_lines l = interleaved ? trid_lines_interleaved(n, systems) : trid_lines_contiguous(n, systems);
            CHECK(trid_lines_check(l) == TRID_BATCH_OK, "n %lld, %lld systems", n, systems);
            for (int flags = 0; flags < 128; flags++) {
                const int arrays = flags & TRID_BATCH_REFINED ? 1 : 0;
                const double got = (double)trid_batch_scratch(l, flags, 8) / (double)bytes;
                CHECK(got > arrays && got < arrays + 1, "%g arrays", got);
            }
        }
    for (int axis = 0; axis < 3; axis++) {
        trid_lines l = trid_lines_axis(3, 4, 5, axis);
        CHECK(l.n * l.systems * l.groups == 60 && l.n == 3 + axis &&
                  l.step == (axis == 0   ? 1
                             : axis == 1 ? 3
                                         : 12) &&
                  trid_lines_check(l) == TRID_BATCH_OK,
              "axis %d", axis);
        for (int empty = 0; empty < 3; empty++) {
            l = trid_lines_axis(3 * (empty != 0), 4 * (empty != 1), 5 * (empty != 2), axis);
            CHECK((l.n == 0 || l.systems == 0) && trid_lines_check(l) == TRID_BATCH_OK, "axis %d of no points", axis);
        }
    }
    trid_lines long_ones = trid_lines_interleaved(5000, 7);
    const long long bytes = trid_batch_scratch(long_ones, TRID_BATCH_PERIODIC, 8);
    long_ones.groups = 0;
    CHECK(bytes > 0 && trid_batch_scratch(long_ones, TRID_BATCH_PERIODIC, 8) == bytes, "scratch of no groups");
    CHECK(trid_batch_scratch(trid_lines_contiguous(1ll << 40, 0), 0, 8) == 0, "scratch of no systems");
}

/* Checks arrays that are a byte off their alignment; none is read. */
template <class T>
static void test_misaligned()
{
    T *const array[2] = {(T *)4096, (T *)4097};
    for (int k = 0; k < 5; k++)
        CHECK(solve(trid_lines_contiguous(8, 4), 0, array[k == 0], array[k == 1], array[k == 2], array[k == 3],
                    array[k == 4] + 4096, 0) == TRID_BATCH_BAD_ARGUMENT,
              "%d bytes: array %d off its alignment", (int)sizeof(T), k);
}

/* What is refused, and what is nothing to do. */
/* Checks that scratch that is missing, misaligned or too small is refused before anything is launched. */
CASE_FUNCTION void test_scratch_given()
{
    const trid_lines l = trid_lines_contiguous(1 << 20, 4);
    float *const p = (float *)((size_t)1 << 52);
    trid_batch_options o = {};
    CHECK(trid_batch_solve_f32(l, p, p, p, p, p + ((size_t)1 << 40), &o, 0) == TRID_BATCH_BAD_SCRATCH, "no scratch");
    o.scratch = p, o.scratch_bytes = trid_batch_scratch(l, 0, 4) - 1;
    CHECK(trid_batch_solve_f32(l, p, p, p, p, p + ((size_t)1 << 40), &o, 0) == TRID_BATCH_BAD_SCRATCH, "a byte less");
    o.scratch = p + 1, o.scratch_bytes++;
    CHECK(trid_batch_solve_f32(l, p, p, p, p, p + ((size_t)1 << 40), &o, 0) == TRID_BATCH_BAD_SCRATCH, "alignment");
}

CASE_FUNCTION void test_arguments()
{
    float *p;
    GPU_OK(filled((void **)&p, 4096 * sizeof(float)));
    GPU_OK(cudaMemset(p, 0x3f, 4096 * sizeof(float)));
    const trid_lines l = trid_lines_contiguous(8, 4), four = {8, 4, 4, 32, 1, 0};
    float *a = p, *b = p + 32, *c = p + 64, *d = p + 96, *x = p + 128;
    CHECK(solve(l, 0, a, b, c, d, x, 0) == TRID_BATCH_OK, "good");
    CHECK(solve(l, 0, a, b, c, d, d, 0) == TRID_BATCH_OK, "in place");
    CHECK(solve(four, 0, a, a + 1, a + 2, a + 3, a + 3, 0) == TRID_BATCH_OK, "arrays of structures");
    CHECK(solve(l, 0, 0, b, c, d, x, 0) == TRID_BATCH_BAD_ARGUMENT && solve(l, 0, a, 0, c, d, x, 0) == -1 &&
              solve(l, 0, a, b, 0, d, x, 0) == -1 && solve(l, 0, a, b, c, 0, x, 0) == -1 &&
              solve(l, 0, a, b, c, d, 0, 0) == -1,
          "null pointers");
    CHECK(solve(l, TRID_BATCH_REFINED, a, b, c, d, x, 0) == TRID_BATCH_BAD_FLAGS, "refined is for checked");
    CHECK(solve(l, 1 << 10, a, b, c, d, x, 0) == TRID_BATCH_BAD_FLAGS, "unknown flag");
    const asked shared(TRID_BATCH_SHARED, 0), periodic(TRID_BATCH_PERIODIC, 0), refined(TRID_BATCH_REFINED, 0);
    CHECK(trid_batch_shared_f32(l, a, b, c, d, x, shared, 0) == TRID_BATCH_BAD_FLAGS &&
              trid_batch_shared_f32(l, a, b, c, d, x, periodic, 0) == TRID_BATCH_BAD_FLAGS &&
              trid_batch_solve_f32(l, a, b, c, d, x, shared, 0) == TRID_BATCH_BAD_FLAGS,
          "shared is for checked");
    CHECK(trid_batch_checked_f32(l, a, b, c, d, x, refined, 0) == TRID_BATCH_BAD_FLAGS &&
              trid_batch_refined_f32(l, a, b, c, d, x, refined, 0) == TRID_BATCH_BAD_FLAGS,
          "refined is a launch");
    test_scratch_given();
    CHECK(checked(l, TRID_BATCH_PERIODIC, a, b, c, d, x, 0) == TRID_BATCH_BAD_FLAGS &&
              pivoted(l, TRID_BATCH_REPAIR, a, b, c, d, x, 0) == TRID_BATCH_BAD_FLAGS,
          "no residuals of periodic systems, nothing to repair without a status");
    CHECK(solve(l, 0, x, b, c, d, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, 0, a, b, c, x + 1, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, 0, a, b, x + 31, d, x, 0) == TRID_BATCH_OVERLAP && solve(l, 0, a, x - 31, c, d, x, 0) == -3,
          "x among the others");
    CHECK(solve(l, TRID_BATCH_SHARED, a, b, x + 31, d, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, TRID_BATCH_SHARED, a, b, x - 6, d, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, TRID_BATCH_SHARED, a, b, x - 7, d, x, 0) == TRID_BATCH_OK &&
              solve(l, TRID_BATCH_SHARED, x + 30, b, c, d, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, TRID_BATCH_SHARED, x + 31, b, c, d, x, 0) == TRID_BATCH_OK,
          "x among the shared rows");
    CHECK(solve(l, 0, x + 30, b, c, d, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, 0, x + 31, b, c, d, x, 0) == TRID_BATCH_OK &&
              solve(l, 0, a, b, x - 30, d, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, 0, a, b, x - 31, d, x, 0) == TRID_BATCH_OK,
          "the ends that are no elements");
    CHECK(solve({8, 1, 4, 7, 1, 0}, 0, a, b, c, d, x, 0) == TRID_BATCH_OVERLAP, "systems overlap");
    CHECK(solve(trid_lines_contiguous((1ll << 30) + 1, 1), 0, a, b, c, d, x, 0) == TRID_BATCH_BAD_SIZE, "n");
    CHECK(solve(trid_lines_contiguous(-8, 4), 0, a, b, c, d, x, 0) == TRID_BATCH_BAD_SIZE, "negative");
    float *far[5]; /* never read: refused, for more systems than a launch has blocks */
    for (size_t i = 0; i < 5; i++) far[i] = (float *)((i + 1) << 52);
    CHECK(solve(trid_lines_contiguous(1000, 1ll << 34), 0, far[0], far[1], far[2], far[3], far[4], 0) == -2, "tiles");
    CHECK(solve(trid_lines_contiguous(0, 4), 0, 0, 0, 0, 0, (float *)0, 0) == TRID_BATCH_OK &&
              solve(trid_lines_contiguous(8, 0), 0, 0, 0, 0, 0, (float *)0, 0) == TRID_BATCH_OK &&
              checked(trid_lines_axis(8, 4, 0, 1), 0, 0, 0, 0, 0, (float *)0, 0) == TRID_BATCH_OK,
          "nothing to do");
    unsigned long long *failed = (unsigned long long *)p, got[2];
    told report = {0, 0, 0, failed};
    CHECK(solve(trid_lines_contiguous(8, 0), 0, 0, 0, 0, 0, (float *)0, &report) == TRID_BATCH_OK, "nothing to report");
    GPU_OK(cudaMemcpy(got, failed, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[0] == 0 && got[1] == ~0ull, "none of none failed");
    const int all[] = {TRID_BATCH_OK,          TRID_BATCH_BAD_ARGUMENT,  TRID_BATCH_BAD_SIZE,
                       TRID_BATCH_OVERLAP,     TRID_BATCH_SHORT,         TRID_BATCH_BAD_FLAGS,
                       TRID_BATCH_BAD_SCRATCH, TRID_BATCH_LAUNCH_FAILED, 17};
    for (int s : all)
        for (int t : all)
            CHECK(s == t || strcmp(trid_batch_status_string(s), trid_batch_status_string(t)), "texts %d %d", s, t);
    for (const char *named : {"share", "weigh", "template", "2^30", "tiles"})
        CHECK(strstr(trid_batch_status_string(TRID_BATCH_BAD_SIZE), named), "a bad size does not name %s", named);
    GPU_OK(cudaFree(p));
}

#if !defined TEST_BATCH_LINKED && !defined TEST_BATCH_SINGLE
/* Tests closed splines: one periodic matrix 1 4 1 for all systems. A wave of k periods, d[j] = cos(2 pi k j / n), is an
   eigenvector: x = d / (4 + 2 cos(2 pi k / n)). The bound in single precision is twice that of test_solve. */
CASE_FUNCTION void test_closed_splines()
{
    static const int sizes[] = {3, 16, 100};
    const long double turn = 2 * acosl(-1.0L);
    for (int n : sizes)
        for (int interleaved = 0; interleaved < 2; interleaved++) {
            const int systems = 9;
            const trid_lines lines =
                interleaved ? trid_lines_interleaved(n, systems) : trid_lines_contiguous(n, systems);
            field<float> one = make_field<float>(trid_lines_contiguous(n, 1), 0), four = one;
            field<float> d = make_field<float>(lines, 0);
            for (int j = 0; j < n; j++) one[j] = 1, four[j] = 4;
            for (int s = 0; s < systems; s++)
                for (int j = 0; j < n; j++) d[offset(lines, 0, s, j)] = (float)cosl(turn * s * j / n);
            GPU_OK(filled((void **)&four.device, four.host.size() * sizeof(float)));
            upload(one), upload(four), upload(d);
            int launched = trid_batch_several_f32<1024>(lines, 1, 0, one.at(), four.at(), one.at(), d.at(), d.at(),
                                                        asked(TRID_BATCH_PERIODIC | TRID_BATCH_SHARED, 0), 0);
            CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
            GPU_OK(cudaMemcpy(d.host.data(), d.device, d.host.size() * sizeof(float), cudaMemcpyDeviceToHost));
            double worst = 0;
            for (int s = 0; s < systems; s++)
                for (int j = 0; j < n; j++) {
                    long double want = cosl(turn * s * j / n) / (4 + 2 * cosl(turn * s / n));
                    double e = (double)fabsl(d[offset(lines, 0, s, j)] - want);
                    if (!(e <= worst)) worst = e;
                }
            check_near(worst, 0, 256 * UNIT_F32, "closed splines of %d, %s", n,
                       interleaved ? "interleaved" : "contiguous");
            launched = trid_batch_several_f32<1024>(trid_lines_contiguous(n, 1), 2, n, one.at(), four.at(), one.at(),
                                                    d.at(), d.at() + n, 0, 0);
            CHECK(launched == TRID_BATCH_OVERLAP, "one side's x is the next one's d: %d", launched);
            field<float> *all[3] = {&one, &four, &d};
            for (field<float> *f : all) GPU_OK(cudaFree(f->device));
        }
}

/* Tests partitions of lines: a row without a pivot is named, whether it is the partition's first, its last or another
   one, and weights for more rows than a partition has are refused. */
CASE_FUNCTION void test_partitions()
{
    static const int n = 40, zero[] = {-1, 20, 0, 39, 17};
    enum { LINES = sizeof zero / sizeof *zero };
    const trid_lines lines = trid_lines_interleaved(n, LINES), ends = trid_lines_interleaved(2, LINES);
    field<float> a = make_field<float>(lines, 0), b = make_field<float>(lines, 0);
    field<float> ea = make_field<float>(ends, 0), ec = make_field<float>(ends, 0), ed = make_field<float>(ends, 0);
    for (long long s = 0; s < LINES; s++)
        for (int j = 0; j < n; j++) {
            const long long at = offset(lines, 0, s, j);
            a[at] = j == zero[s] ? 0 : 0.3f, b[at] = j == zero[s] ? 0 : 1;
        }
    upload(a), upload(b);
    int *device_status, status[LINES];
    GPU_OK(filled((void **)&device_status, sizeof status));
    const told report = {device_status, 0, 0, 0};
    int launched = trid_batch_interface_reduce_f32(lines, a.at(), b.at(), a.at(), b.at(), LINES, ea.at(), ec.at(),
                                                   ed.at(), asked(0, &report), 0);
    CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
    GPU_OK(cudaMemcpy(status, device_status, sizeof status, cudaMemcpyDeviceToHost));
    for (int s = 0; s < LINES; s++) CHECK(status[s] == 1 + zero[s], "zero row %d: status %d", zero[s], status[s]);
    for (int wrong = -1; wrong <= n + 1; wrong += n + 2)
        for (int last = 0; last < 2; last++) {
            launched = trid_batch_interface_weigh_f32(lines, a.at(), a.at(), b.at(), last ? 1 : wrong, last ? wrong : 1,
                                                      LINES, ed.at(), 0, 0);
            CHECK(launched == TRID_BATCH_BAD_SIZE, "weights of %d rows of %d: %d", wrong, n, launched);
        }
    field<float> *all[5] = {&a, &b, &ea, &ec, &ed};
    for (field<float> *f : all) GPU_OK(cudaFree(f->device));
    GPU_OK(cudaFree(device_status));
}
#endif

#ifdef TEST_BATCH_LINKED
int main(void)
{
    test_arguments();
    test_operations<float>();
    test_operations<double>();
    if (check_short()) check_skip(1, "three in four of the larger sizes: SHORT_TESTS is set");
    return check_report();
}
#else
int main(void)
{
#ifdef TEST_BATCH_SINGLE
    test_arguments();
#else
    test_lines();
    test_the_20();
    test_closed_splines();
    test_partitions();
    test_zero_rows();
    test_random_signs();
#endif
    test_misaligned<real>();
    test_pivoted<real>();
    test_many_tiles<real>();
    test_wide<real>();
    test_checked<real>();
    test_failures<real>();
    test_overflow<real>();
    test_refined<real>();
    test_rows<real>();
    test_more_than_1024<real>();
    test_layouts<real>();
    test_operations<real>();
    if (check_short())
        check_skip(1, "three in four of the larger sizes, every other checked call, every other way of solving the 20 "
                      "matrices: SHORT_TESTS is set");
    return check_report();
}
#endif
#endif
