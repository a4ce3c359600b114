/* test_batch.cu - trid_batch.h: every layout, size and operation, on a GPU or under tests/simt.h.
   MIT licence, see LICENSE.

   Each array of a case lies between guard words, and what lies between its systems is guarded too: whatever is not an
   element of x must be as it was, and x is full of NaN before. Answers come from pivoted elimination in long double. */
#define TRID_P_BATCH_LEAST_BLOCKS 2 /* so that warps take several tiles of small batches already */
#define TRID_BATCH_IMPLEMENTATION   /* the functions with C linkage are those that are called below */
#include "trid_batch.h"

#include "batch_cases.h"
#include "check.h"
#include "gpu.h"

#include <algorithm>
#include <limits.h>
#include <string.h>

/* Memory with something in it, which a call may leave as it is. */
static cudaError_t filled(void **p, size_t bytes)
{
    cudaError_t error = cudaMalloc(p, bytes);
    return error == cudaSuccess ? cudaMemset(*p, 0xff, bytes) : error;
}

static case_random dice = {20250711};

static const double UNIT_F32 = 5.9604644775390625e-8, UNIT_F64 = 1.1102230246251565e-16;

static int solve(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d, float *x,
                 const trid_batch_report *report)
{
    if (flags & TRID_BATCH_SHARED)
        return trid_batch_shared_f32(lines, flags & ~TRID_BATCH_SHARED, a, b, c, d, x, report, 0);
    return trid_batch_solve_f32(lines, flags, a, b, c, d, x, report, 0);
}
static int solve(trid_lines lines, int flags, const double *a, const double *b, const double *c, const double *d,
                 double *x, const trid_batch_report *report)
{
    if (flags & TRID_BATCH_SHARED)
        return trid_batch_shared_f64(lines, flags & ~TRID_BATCH_SHARED, a, b, c, d, x, report, 0);
    return trid_batch_solve_f64(lines, flags, a, b, c, d, x, report, 0);
}

static int checked(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                   float *x, const trid_batch_report *report)
{
    return trid_batch_checked_f32(lines, flags, a, b, c, d, x, report, 0);
}
static int checked(trid_lines lines, int flags, const double *a, const double *b, const double *c, const double *d,
                   double *x, const trid_batch_report *report)
{
    return trid_batch_checked_f64(lines, flags, a, b, c, d, x, report, 0);
}

static int pivoted(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                   float *x, const trid_batch_report *report)
{
    return trid_batch_pivoted_f32(lines, flags, a, b, c, d, x, report, 0);
}
static int pivoted(trid_lines lines, int flags, const double *a, const double *b, const double *c, const double *d,
                   double *x, const trid_batch_report *report)
{
    return trid_batch_pivoted_f64(lines, flags, a, b, c, d, x, report, 0);
}

/* Memory for an array that lies so, with guards on both sides, `shift` elements off the allocation's alignment. */
enum { GUARD = 40, ALIGNED = -1 };
template <class T>
struct field {
    std::vector<T> host;
    T *device;
    long long origin; /* of element 0 of system 0 */
    T *at() const { return device + origin; }
    T &operator[](long long i) { return host[(size_t)(origin + i)]; }
};

static long long offset(const trid_lines &lines, long long group, long long system, long long row)
{
    return row * lines.step + system * lines.stride + group * lines.jump;
}

template <class T>
static field<T> make_field(const trid_lines &lines, int shift)
{
    long long low = 0, high = 0, count[3] = {lines.n, lines.systems, lines.groups};
    long long pitch[3] = {lines.step, lines.stride, lines.jump};
    for (int k = 0; k < 3; k++) (pitch[k] < 0 ? low : high) += pitch[k] * (count[k] - 1);
    field<T> f;
    f.origin = GUARD + shift - low;
    f.host.resize((size_t)(high - low + 1 + 2 * GUARD + shift));
    for (size_t i = 0; i < f.host.size(); i++) f.host[i] = (T)(1000 + (double)i);
    GPU_OK(filled((void **)&f.device, f.host.size() * sizeof(T)));
    return f;
}
template <class T>
static void upload(field<T> &f)
{
    GPU_OK(cudaMemcpy(f.device, f.host.data(), f.host.size() * sizeof(T), cudaMemcpyHostToDevice));
}

/* Do calls go without a report? Then nothing is counted. */
static int silent;

/* One call on random dominant systems, |b| >= 1.4 (|a| + |c|): the largest error over the largest element of x is then
   bounded by the condition number, 2.4 / 0.4 = 6, times the backward error of elimination in sections, a dozen unit
   roundoffs or so: 128 in all. Corners are NaN: they must not count. b and c lie one and two elements further off
   alignment than the others, unless shift is ALIGNED: then all arrays lie alike. */
template <class T>
static void test_solve(const char *name, trid_lines lines, int flags, int in_place, int shift, int check = 0)
{
    const double unit = sizeof(T) == 4 ? UNIT_F32 : UNIT_F64, tolerance = 128 * unit;
    const int n = (int)lines.n, add = flags & TRID_BATCH_ADD, shared = flags & TRID_BATCH_SHARED;
    const int apart = shift != ALIGNED;
    trid_lines matrix = lines;
    if (shared) matrix = trid_lines_contiguous(n, 1);
    if (shift == ALIGNED) shift = 0;
    field<T> a = make_field<T>(matrix, shift), b = make_field<T>(matrix, shift + apart),
             c = make_field<T>(matrix, shift + 2 * apart);
    field<T> d = make_field<T>(lines, shift), x = in_place ? d : make_field<T>(lines, shift);
    for (long long g = 0; g < matrix.groups; g++)
        for (long long s = 0; s < matrix.systems; s++)
            for (int j = 0; j < n; j++) {
                long long at = offset(matrix, g, s, j);
                double left = case_between(&dice, -1, 1), right = case_between(&dice, -1, 1);
                double size = (fabs(left) + fabs(right)) * case_between(&dice, 1.4, 3) + 0.1;
                a[at] = j > 0 ? (T)left : (T)NAN;
                b[at] = (T)(case_below(&dice, 2) ? size : -size);
                c[at] = j < n - 1 ? (T)right : (T)NAN;
            }
    for (long long g = 0; g < lines.groups; g++)
        for (long long s = 0; s < lines.systems; s++)
            for (int j = 0; j < n; j++) {
                long long at = offset(lines, g, s, j);
                x[at] = add ? (T)case_between(&dice, -1, 1) : (T)NAN;
                d[at] = (T)case_between(&dice, -1, 1);
            }
    long long systems = lines.systems * lines.groups;
    std::vector<int> status((size_t)systems + 2, 77);
    int *device_status;
    unsigned long long failed[2] = {5, 5}, *device_failed;
    GPU_OK(filled((void **)&device_status, status.size() * sizeof(int)));
    GPU_OK(cudaMemcpy(device_status, status.data(), status.size() * sizeof(int), cudaMemcpyHostToDevice));
    GPU_OK(filled((void **)&device_failed, sizeof failed));
    std::vector<float> residual((size_t)systems, -1);
    float *device_residual;
    GPU_OK(filled((void **)&device_residual, residual.size() * sizeof(float)));
    GPU_OK(cudaMemcpy(device_residual, residual.data(), residual.size() * sizeof(float), cudaMemcpyHostToDevice));
    trid_batch_report report = {device_status + 1, check == 1 ? device_residual : 0, 0, device_failed};
    const trid_batch_report *told = silent ? 0 : &report;
    upload(a), upload(b), upload(c), upload(d);
    if (!in_place) upload(x);
    field<T> before = in_place ? d : x;
    T *to = in_place ? d.at() : x.at();
    int launched = check == 2 ? pivoted(lines, flags, a.at(), b.at(), c.at(), d.at(), to, told)
                   : check    ? checked(lines, flags, a.at(), b.at(), c.at(), d.at(), to, told)
                              : solve(lines, flags, a.at(), b.at(), c.at(), d.at(), to, told);
    CHECK(launched == TRID_BATCH_OK, "%s n %d: %s", name, n, trid_batch_status_string(launched));
    std::vector<T> after(before.host.size());
    GPU_OK(cudaMemcpy(after.data(), in_place ? d.device : x.device, after.size() * sizeof(T), cudaMemcpyDeviceToHost));
    GPU_OK(cudaMemcpy(status.data(), device_status, status.size() * sizeof(int), cudaMemcpyDeviceToHost));
    GPU_OK(cudaMemcpy(failed, device_failed, sizeof failed, cudaMemcpyDeviceToHost));

    GPU_OK(cudaMemcpy(residual.data(), device_residual, residual.size() * sizeof(float), cudaMemcpyDeviceToHost));
    GPU_OK(cudaFree(device_residual));

    double worst = 0, residual_error = 0;
    std::vector<long double> la((size_t)n), lb((size_t)n), lc((size_t)n), ld((size_t)n), lx((size_t)n);
    for (long long g = 0; g < lines.groups; g++)
        for (long long s = 0; s < lines.systems; s++) {
            for (int j = 0; j < n; j++) {
                long long at = offset(lines, g, s, j), from = shared ? j : at;
                la[(size_t)j] = a[from], lb[(size_t)j] = b[from], lc[(size_t)j] = c[from], ld[(size_t)j] = d[at];
            }
            batch_answer(n, la.data(), lb.data(), lc.data(), ld.data(), lx.data());
            double size = 0, error = 0;
            if (check &&
                !add) { /* x, and so the residual, is what was rounded last: the two differ by roundings alone */
                for (int j = 0; j < n; j++) lx[(size_t)j] = after[(size_t)(before.origin + offset(lines, g, s, j))];
                double e = batch_residual(n, la.data(), lb.data(), lc.data(), ld.data(), lx.data()) -
                           residual[(size_t)(g * lines.systems + s)];
                if (!(fabs(e) <= residual_error)) residual_error = fabs(e);
            }
            batch_answer(n, la.data(), lb.data(), lc.data(), ld.data(), lx.data());
            for (int j = 0; j < n; j++) {
                long long at = offset(lines, g, s, j);
                long double want = lx[(size_t)j] + (add ? (long double)before[at] : 0);
                double e = (double)fabsl((long double)after[(size_t)(before.origin + at)] - want);
                /* What is added to and what is added may cancel. */
                size = std::max(size, (double)fabsl(lx[(size_t)j]) + (add ? fabs((double)before[at]) : 0));
                if (!(e <= error)) error = e;
                before[at] = after[(size_t)(before.origin + at)]; /* what is left to compare are the guards */
            }
            if (!(error / size <= worst)) worst = error / size;
        }
    check_near(worst, 0, tolerance, "%s %s n %d, %lld x %lld systems, flags %d%s, shift %d: error", name,
               sizeof(T) == 4 ? "f32" : "f64", n, lines.systems, lines.groups, flags, in_place ? ", in place" : "",
               shift);
    if (check == 1 && !add && !silent)
        check_near(residual_error, 0, 4 * unit, "%s %s n %d, %lld x %lld systems, flags %d: residual", name,
                   sizeof(T) == 4 ? "f32" : "f64", n, lines.systems, lines.groups, flags);
    CHECK(!memcmp(after.data(), before.host.data(), after.size() * sizeof(T)), "%s n %d: wrote beyond x", name, n);
    long bad = 0;
    if (silent) {
        std::fill(status.begin() + 1, status.end() - 1, 0);
        failed[0] = 0, failed[1] = ~0ull;
    }
    for (long long s = 0; s < systems; s++) bad += status[(size_t)s + 1] != 0;
    CHECK(bad == 0 && status[0] == 77 && status[(size_t)systems + 1] == 77, "%s n %d: %ld statuses wrong", name, n,
          bad);
    CHECK(failed[0] == 0 && failed[1] == ~0ull, "%s n %d: failed %llu %llu", name, n, failed[0], failed[1]);
    T *all[4] = {a.device, b.device, c.device, d.device};
    for (T *p : all) GPU_OK(cudaFree(p));
    if (!in_place) GPU_OK(cudaFree(x.device));
    GPU_OK(cudaFree(device_status));
    GPU_OK(cudaFree(device_failed));
}

/* The layouts, of n rows and about this many systems. */
struct layout {
    const char *name;
    trid_lines lines;
};
static std::vector<layout> layouts(int n, int systems)
{
    long long m = systems, l = n;
    std::vector<layout> list = {
        {"contiguous", trid_lines_contiguous(l, m)},      {"odd pitch", {l, 1, m, l + 3, 1, 0}},
        {"even pitch", {l, 1, m, (l + 8) / 4 * 4, 1, 0}}, {"interleaved", trid_lines_interleaved(l, m)},
        {"padded interleaved", {l, m + 3, m, 1, 1, 0}},   {"backward", {l, -1, m, l, 1, 0}},
        {"interleaved backward", {l, m, m, -1, 1, 0}},    {"every third", {l, 3, m, 3 * l + 1, 1, 0}},
        {"structures", {l, 4 * m, m, 4, 1, 0}},           {"groups", {l, 1, m, l, 3, (m + 1) * l}},
        {"y lines", {l, m, m, 1, 3, m * l + 5}},          {"z lines", trid_lines_axis(m, 2, l, 2)},
    };
    return list;
}

template <class T>
static void test_layouts()
{
    static const int sizes[] = {1,   2,   3,   4,   5,   7,   8,   9,   13,  16,  17,  31,  32,  33,   47,   64,  65,
                                100, 128, 129, 200, 255, 256, 257, 300, 511, 512, 513, 700, 769, 1000, 1023, 1024};
    for (int n : sizes) {
        int systems[] = {1, n > 64 ? 5 : 37, n > 256 ? 9 : n > 16 ? 40 : 150};
        int index = 0;
        for (int m : systems) {
            if (index++ == 2 && n > 256 && getenv("SHORT_TESTS")) continue;
            for (const layout &l : layouts(n, m)) {
                if (m > 40 && strcmp(l.name, "contiguous") && strcmp(l.name, "interleaved")) continue;
                if (n > 256 && m > 1 && m < 9 && case_below(&dice, 2)) continue; /* a sample of what takes long */
                test_solve<T>(l.name, l.lines, 0, 0, case_below(&dice, 4));
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
            for (int flags = 0; flags < 4; flags++)
                for (int in_place = 0; in_place < 2; in_place++) {
                    if (n > 100 && case_below(&dice, 3)) continue;
                    test_solve<T>(l.name, l.lines, flags, in_place, case_below(&dice, 4));
                }
}

/* Dominant systems in every layout, and systems that need the pivoting: a zero diagonal, off-diagonals of random sign,
   which are well conditioned enough where n is even (for odd n such a matrix is singular). A launch without pivoting
   fails at all of them, and the repair solves those that failed and leaves its own status. */
template <class T>
static void test_pivoted()
{
    static const int sizes[] = {1,   2,   3,   4,   5,   8,   9,   16,  17,  33,   64,
                                100, 128, 255, 256, 300, 384, 385, 512, 513, 1000, 1024};
    for (int n : sizes)
        for (const layout &l : layouts(n, n > 100 ? 5 : 35)) {
            if (n > 300 && case_below(&dice, 3)) continue;
            int add = case_below(&dice, 2);
            test_solve<T>(l.name, l.lines, add ? TRID_BATCH_ADD : 0, case_below(&dice, 2), case_below(&dice, 4), 2);
        }
    static const int even[] = {2, 4, 8, 16, 30, 64, 200, 256, 380, 500, 1024};
    const double unit = sizeof(T) == 4 ? UNIT_F32 : UNIT_F64;
    for (int n : even)
        for (int repair = 0; repair < 3; repair++) { /* 2: only the first system needs it */
            const int systems = n > 100 ? 9 : 70;
            trid_lines lines = trid_lines_contiguous(n, systems);
            field<T> a = make_field<T>(lines, 0), b = a, c = a, d = a, x = a;
            field<T> *all[5] = {&a, &b, &c, &d, &x};
            for (long long at = 0; at < (long long)n * systems; at++) {
                int hard = repair < 2 ? at / n % 3 != 1 : at < n; /* every third is dominant, or all but the first */
                /* Products of ratios of neighbours stay near 1: the condition grows with n alone. */
                double size = case_between(&dice, 0.9, 1.1) * (case_below(&dice, 2) ? 1 : -1);
                a[at] = (T)size, c[at] = (T)(size * (at % n % 2 ? -1 : 1));
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
            trid_batch_report report = {status, 0, 0, failed};
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
                    for (int j = 0; j < n; j++) m[k].push_back((*all[k])[(long long)s * n + j]);
                double r = batch_residual(n, m[0].data(), m[1].data(), m[2].data(), m[3].data(), m[4].data());
                if (!(r <= worst)) worst = r;
            }
            /* Pivoting keeps the residual at some unit roundoffs, whatever the condition. */
            check_near(worst, 0, 64 * unit, "pivoted %s n %d, repair %d: residual", sizeof(T) == 4 ? "f32" : "f64", n,
                       repair);
            for (field<T> *f : all) GPU_OK(cudaFree(f->device));
            GPU_OK(cudaFree(status));
            GPU_OK(cudaFree(failed));
        }
}

/* So many tiles that a block of a persistent launch takes several, in several groups. */
template <class T>
static void test_many_tiles()
{
    static const int sizes[] = {3, 7, 16, 20, 50, 100, 256, 400, 600};
    for (int n : sizes)
        for (int check = 0; check < 2; check++) {
            trid_lines lines = {n, 33, 33, 1, n > 16 && n < 200 ? 19 : 9, 33 * n + 1};
            if (n < 500)
                test_solve<T>("many shared",
                              trid_lines_contiguous(n, n < 30    ? 999
                                                       : n < 200 ? 201
                                                                 : 61),
                              TRID_BATCH_SHARED, case_below(&dice, 2), 1, check);
            silent = case_below(&dice, 2);
            test_solve<T>("many tiles", lines, check ? TRID_BATCH_REFINED : 0, case_below(&dice, 2), 1, check);
            silent = 0;
        }
}

/* Systems side by side in arrays that all are aligned to 16 bytes, with pitches that keep them so: they come in pieces of
   16 bytes then. Full tiles, and tiles that end between two pieces; several tiles a block; a last section with a row. */
template <class T>
static void test_wide()
{
    static const int sizes[] = {2,   4,   5,   8,   9,   13,  16,  17,  31,  32,  47,  64,  100,
                                128, 129, 200, 255, 256, 257, 300, 511, 512, 513, 769, 1024};
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
            {"half wide", {n, few, few - 2, 1, 1, 0}},          /* in double precision alone: pieces of whole systems */
            {"half wide, y lines", {n, 8, 8, 1, 3, 8 * n + 2}}, /* and jumps */
            {"not wide, odd pitch", {n, few + 1, few, 1, 1, 0}},
        };
        for (const layout &l : list) {
            if (l.lines.systems > 30 && n > 200 && case_below(&dice, 2)) continue;
            int add = case_below(&dice, 2) ? TRID_BATCH_ADD : 0;
            silent = case_below(&dice, 2);
            test_solve<T>(l.name, l.lines, add, case_below(&dice, 2), ALIGNED, case_below(&dice, 4) == 0);
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
                test_solve<T>(l.name, l.lines, flags, (flags & TRID_BATCH_REFINED) && case_below(&dice, 2),
                              case_below(&dice, 4), 1);
            }
}

/* Some systems fail: the others are solved, and the report says which. Kinds: 0 a system without fault; 1 its first row
   is zero; 2 NaN on its last diagonal; 3 a first pivot far below the roundoff of the others, which no pivot shows; 4
   singular across two sections. */
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
                kind[k] = case_below(&dice, 3) ? 0 : 1 + case_below(&dice, n > 17 ? 4 : 3);
                for (int j = 0; j < n; j++) {
                    long long at = offset(lines, g, s, j);
                    a[at] = (T)case_between(&dice, 0.5, 1), c[at] = (T)case_between(&dice, 0.5, 1);
                    b[at] = (T)case_between(&dice, 2.5, 3), d[at] = (T)case_between(&dice, 0.5, 1);
                    x[at] = (T)NAN;
                }
                long long top = offset(lines, g, s, 0), end = offset(lines, g, s, n - 1);
                if (kind[k] == 1) b[top] = c[top] = 0;
                if (kind[k] == 2) b[end] = (T)NAN;
                if (kind[k] == 3) b[top] = (T)(unit / 256);
                if (kind[k] == 4) { /* rows 15 and 16, in two sections where these have 16 rows, say the same */
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
            for (int check = 0; check < 2; check++) {
                trid_batch_report report = {device_status, device_residual, 0, device_failed};
                int launched = check ? checked(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report)
                                     : solve(lines, 0, a.at(), b.at(), c.at(), d.at(), x.at(), &report);
                CHECK(launched == TRID_BATCH_OK, "%s", trid_batch_status_string(launched));
                GPU_OK(cudaMemcpy(status.data(), device_status, systems * sizeof(int), cudaMemcpyDeviceToHost));
                GPU_OK(cudaMemcpy(residual.data(), device_residual, systems * sizeof(float), cudaMemcpyDeviceToHost));
                GPU_OK(cudaMemcpy(failed, device_failed, sizeof failed, cudaMemcpyDeviceToHost));
                unsigned long long count = 0, first = ~0ull;
                long wrong = 0;
                for (size_t k = 0; k < systems; k++) {
                    int want = kind[k] == 1 ? 1 : kind[k] == 3 && check ? n + 1 : 0;
                    /* NaN spreads through the section before a pivot meets it: a row at or above the last. */
                    int right = kind[k] == 2 || kind[k] == 4 ? status[k] >= 1 && status[k] <= n : status[k] == want;
                    if (check && kind[k] == 3) right = right && residual[k] > 1e-4f;
                    if (check && kind[k] == 0) right = right && residual[k] <= (float)(16 * unit);
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

/* Matrices that are only just dominant, where elimination by sections of K rows leaves many unit roundoffs: a step of
   refinement leaves a few, as long as K^2.5 (dominance - 1) exceeds the root of the unit roundoff (docs/hybrid.md),
   which the margins do for K >= 8. What it leaves is measured outside. */
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
    CHECK(hardest > 20 * unit, "%g unit roundoffs: there was nothing to refine", hardest / unit);
}

/* A matrix that a function makes, of the system's index and the row: the second difference with a diagonal of its
   own. */
struct made_rows {
    double size;
    template <class T>
    __host__ __device__ void operator()(long long system, int row, T *a, T *b, T *c) const
    {
        *a = (T)(-1 - 0.125 * (double)(row % 3));
        *c = (T)(-1);
        *b = (T)(size + 0.25 * (double)(system % 5) + 0.125 * (double)(row % 2));
    }
};

static int solve_rows(trid_lines lines, int flags, made_rows rows, const float *d, float *x)
{
    return trid_batch_solve_rows_f32(lines, flags, rows, d, x, 0, 0);
}
static int solve_rows(trid_lines lines, int flags, made_rows rows, const double *d, double *x)
{
    return trid_batch_solve_rows_f64(lines, flags, rows, d, x, 0, 0);
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
            made_rows rows = {3.25};
            for (T &v : d.host) v = (T)case_between(&dice, -1, 1);
            for (T &v : x.host) v = (T)NAN;
            upload(d), upload(x);
            int launched = solve_rows(lines, 0, rows, d.at(), x.at());
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

/* Do places coincide, as the exact search says, and as trying all pairs does? */
static void test_lines()
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
    }
    const long long far = 1ll << 61;
    const trid_lines bad[] = {{-1, 1, 1, 1, 1, 1},
                              {1, 1, -1, 1, 1, 1},
                              {1, 1, 1, 1, -1, 1},
                              {2, far, 1, 1, 1, 1},
                              {2, 1, far, 2, 1, 1},
                              {2, -far, 1, 1, 1, 1},
                              {1 << 30, 1, 1 << 30, 1 << 30, 2, 1},
                              {2, 1, 1ll << 40, 1ll << 40, 1, 1},
                              trid_lines_axis(2, 2, 2, 3)};
    for (const trid_lines &l : bad) CHECK(trid_lines_check(l) == TRID_BATCH_BAD_SIZE, "%lld %lld", l.n, l.systems);
    CHECK(trid_lines_check(trid_lines_contiguous(1 << 20, 1ll << 39)) == TRID_BATCH_OK, "large");
    for (int axis = 0; axis < 3; axis++) {
        trid_lines l = trid_lines_axis(3, 4, 5, axis);
        CHECK(l.n * l.systems * l.groups == 60 && l.n == 3 + axis &&
                  l.step == (axis == 0   ? 1
                             : axis == 1 ? 3
                                         : 12) &&
                  trid_lines_check(l) == TRID_BATCH_OK,
              "axis %d", axis);
    }
}

/* What is refused, and what is nothing to do. */
static void test_arguments()
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
    CHECK(solve(l, TRID_BATCH_REFINED, a, b, c, d, x, 0) == TRID_BATCH_BAD_ARGUMENT, "refined is for checked");
    CHECK(solve(l, 1 << 10, a, b, c, d, x, 0) == TRID_BATCH_BAD_ARGUMENT, "unknown flag");
    CHECK(trid_batch_shared_f32(l, TRID_BATCH_SHARED, a, b, c, d, x, 0, 0) == TRID_BATCH_BAD_ARGUMENT &&
              trid_batch_solve_f32(l, TRID_BATCH_SHARED, a, b, c, d, x, 0, 0) == TRID_BATCH_BAD_ARGUMENT,
          "shared is for checked");
    CHECK(solve(l, 0, x, b, c, d, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, 0, a, b, c, x + 1, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, 0, a, b, x + 31, d, x, 0) == TRID_BATCH_OVERLAP && solve(l, 0, a, x - 31, c, d, x, 0) == -3,
          "x among the others");
    CHECK(solve(l, TRID_BATCH_SHARED, a, b, x + 31, d, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, TRID_BATCH_SHARED, a, b, x - 7, d, x, 0) == TRID_BATCH_OVERLAP &&
              solve(l, TRID_BATCH_SHARED, a, b, x - 8, d, x, 0) == TRID_BATCH_OK,
          "x among the shared rows");
    CHECK(solve({8, 1, 4, 7, 1, 0}, 0, a, b, c, d, x, 0) == TRID_BATCH_OVERLAP, "systems overlap");
    CHECK(solve(trid_lines_contiguous(1025, 1), 0, a, b, c, d, x, 0) == TRID_BATCH_BAD_SIZE, "n");
    CHECK(solve(trid_lines_contiguous(-8, 4), 0, a, b, c, d, x, 0) == TRID_BATCH_BAD_SIZE, "negative");
    CHECK(solve(trid_lines_contiguous(0, 4), 0, 0, 0, 0, 0, (float *)0, 0) == TRID_BATCH_OK &&
              solve(trid_lines_contiguous(8, 0), 0, 0, 0, 0, 0, (float *)0, 0) == TRID_BATCH_OK &&
              checked({8, 1, 4, 8, 0, 0}, 0, 0, 0, 0, 0, (float *)0, 0) == TRID_BATCH_OK,
          "nothing to do");
    unsigned long long *failed = (unsigned long long *)p, got[2];
    trid_batch_report report = {0, 0, 0, failed};
    CHECK(solve(trid_lines_contiguous(8, 0), 0, 0, 0, 0, 0, (float *)0, &report) == TRID_BATCH_OK, "nothing to report");
    GPU_OK(cudaMemcpy(got, failed, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[0] == 0 && got[1] == ~0ull, "none of none failed");
    const int all[] = {TRID_BATCH_OK,      TRID_BATCH_BAD_ARGUMENT,  TRID_BATCH_BAD_SIZE,
                       TRID_BATCH_OVERLAP, TRID_BATCH_LAUNCH_FAILED, 17};
    for (int s : all)
        for (int t : all)
            CHECK(s == t || strcmp(trid_batch_status_string(s), trid_batch_status_string(t)), "texts %d %d", s, t);
    GPU_OK(cudaFree(p));
}

int main(void)
{
    test_lines();
    test_arguments();
    test_pivoted<float>();
    test_pivoted<double>();
    test_many_tiles<float>();
    test_many_tiles<double>();
    test_wide<float>();
    test_wide<double>();
    test_checked<float>();
    test_checked<double>();
    test_failures<float>();
    test_failures<double>();
    test_refined<float>();
    test_refined<double>();
    test_rows<float>();
    test_rows<double>();
    test_layouts<float>();
    test_layouts<double>();
    test_operations<float>();
    test_operations<double>();
    return check_report();
}
