/* batch_field.h - what the tests of trid/batch.h share: memory between guards, the launches of both precisions by one
   name, and a test of one call that checks everything that the call leaves.
   MIT licence, see LICENSE.

   Include it after trid/batch.h, for which a test may define limits of its own. Each array of a case lies between guard
   words, and so does what lies between its systems: everything that is not an element of x must stay as it was. x is
   full of NaN before the call. Scratch is as large as trid_batch_scratch says, between guards, and full of NaN too. */
#ifndef BATCH_FIELD_H
#define BATCH_FIELD_H

#include "batch_cases.h"
#include "check.h"
#include "gpu.h"

#include <algorithm>
#include <limits.h>
#include <string.h>

/* Allocates memory and fills it with bytes of 0xff, so that what a call does not write is known. */
static cudaError_t filled(void **p, size_t bytes)
{
    cudaError_t error = cudaMalloc(p, bytes);
    return error == cudaSuccess ? cudaMemset(*p, 0xff, bytes) : error;
}

static case_random dice = {20250711};

static const double UNIT_F32 = 5.9604644775390625e-8, UNIT_F64 = 1.1102230246251565e-16;

/* The caller's scratch for one call. The destructor, after the call, checks the guards. */
struct scratch_memory {
    char *device;
    size_t bytes;
    scratch_memory(const trid_lines &lines, int flags, int element) : device(0), bytes(0)
    {
        long long need = trid_batch_scratch(lines, flags, element);
        bytes = need > 0 ? (size_t)need : 0;
        GPU_OK(filled((void **)&device, bytes + 2 * GUARD_BYTES));
    }
    void *at() const { return bytes ? device + GUARD_BYTES : (char *)0; }
    long long size() const { return (long long)bytes; }
    ~scratch_memory()
    {
        std::vector<unsigned char> after(bytes + 2 * GUARD_BYTES);
        GPU_OK(cudaMemcpy(after.data(), device, after.size(), cudaMemcpyDeviceToHost));
        long wrong = 0;
        for (size_t i = 0; i < GUARD_BYTES; i++) wrong += after[i] != 0xff || after[GUARD_BYTES + bytes + i] != 0xff;
        CHECK(!wrong, "%ld bytes written around %zu of scratch", wrong, bytes);
        GPU_OK(cudaFree(device));
    }

  private:
    enum { GUARD_BYTES = 16 * 5 }; /* aligned to 16 bytes, as a call asks for, and to no more */
    scratch_memory(const scratch_memory &);
    scratch_memory &operator=(const scratch_memory &);
};

/* The reports that a test asks for (told), and the options of the call made from them (asked). */
struct told {
    int *status;
    float *residual;
    double tolerance;
    unsigned long long *failed;
};
/* Ways to pass the device: null, an empty struct, this device, this device with one multiprocessor. The last way may
   choose other kernels, which round differently. */
static int ways_to_ask = 4;

struct asked {
    trid_batch_options options;
    asked(int flags, const told *report, const scratch_memory *scratch = 0) : options()
    {
        static trid_device device;
        static int turn;
        options.flags = flags;
        device = trid_device();
        const int way = turn++ % ways_to_ask;
        if (way == 1 || (way >= 2 && trid_device_query(&device) == TRID_BATCH_OK)) options.device = &device;
        if (way == 3) device.processors = 1;
        if (report) {
            options.status = report->status, options.residual = report->residual;
            options.tolerance = report->tolerance, options.failed = report->failed;
        }
        if (scratch) options.scratch = scratch->at(), options.scratch_bytes = scratch->size();
    }
    operator const trid_batch_options *() const { return &options; }
};

#ifndef BATCH_FIELD_OWN_LAUNCHES /* a test with launches of its own would compile these for nothing */
CASE_FUNCTION int solve(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                        float *x, const told *report)
{
    scratch_memory scratch(lines, flags, sizeof *x);
    if (flags & TRID_BATCH_SHARED)
        return trid_batch_shared_f32(lines, a, b, c, d, x, asked(flags & ~TRID_BATCH_SHARED, report, &scratch), 0);
    return trid_batch_solve_f32(lines, a, b, c, d, x, asked(flags, report, &scratch), 0);
}
CASE_FUNCTION int solve(trid_lines lines, int flags, const double *a, const double *b, const double *c, const double *d,
                        double *x, const told *report)
{
    scratch_memory scratch(lines, flags, sizeof *x);
    if (flags & TRID_BATCH_SHARED)
        return trid_batch_shared_f64(lines, a, b, c, d, x, asked(flags & ~TRID_BATCH_SHARED, report, &scratch), 0);
    return trid_batch_solve_f64(lines, a, b, c, d, x, asked(flags, report, &scratch), 0);
}

CASE_FUNCTION int checked(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                          float *x, const told *report)
{
    scratch_memory scratch(lines, flags, sizeof *x);
    if (flags & TRID_BATCH_REFINED)
        return trid_batch_refined_f32(lines, a, b, c, d, x, asked(flags & ~TRID_BATCH_REFINED, report, &scratch), 0);
    return trid_batch_checked_f32(lines, a, b, c, d, x, asked(flags, report, &scratch), 0);
}
CASE_FUNCTION int checked(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                          const double *d, double *x, const told *report)
{
    scratch_memory scratch(lines, flags, sizeof *x);
    if (flags & TRID_BATCH_REFINED)
        return trid_batch_refined_f64(lines, a, b, c, d, x, asked(flags & ~TRID_BATCH_REFINED, report, &scratch), 0);
    return trid_batch_checked_f64(lines, a, b, c, d, x, asked(flags, report, &scratch), 0);
}

CASE_FUNCTION int pivoted(trid_lines lines, int flags, const float *a, const float *b, const float *c, const float *d,
                          float *x, const told *report)
{
    scratch_memory scratch(lines, flags, sizeof *x);
    return trid_batch_pivoted_f32(lines, a, b, c, d, x, asked(flags, report, &scratch), 0);
}
CASE_FUNCTION int pivoted(trid_lines lines, int flags, const double *a, const double *b, const double *c,
                          const double *d, double *x, const told *report)
{
    scratch_memory scratch(lines, flags, sizeof *x);
    return trid_batch_pivoted_f64(lines, a, b, c, d, x, asked(flags, report, &scratch), 0);
}
#endif

/* An array on the host and on the device, with guards on both sides, `shift` elements off the allocation's
   alignment. */
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

/* Returns the same lines, every other time with groups 0, which means one group too. */
CASE_FUNCTION trid_lines group_left_out(trid_lines lines)
{
    static int turn;
    if (lines.groups == 1 && turn++ % 2) lines.groups = 0;
    return lines;
}

/* Makes an array for these lines; sides: right-hand sides, pitch elements apart. */
template <class T>
static field<T> make_field(const trid_lines &lines, int shift, long long sides = 1, long long pitch = 0)
{
    long long low = 0, high = 0, count[4] = {lines.n, lines.systems, lines.groups, sides};
    long long steps[4] = {lines.step, lines.stride, lines.jump, pitch};
    for (int k = 0; k < 4; k++) (steps[k] < 0 ? low : high) += steps[k] * (count[k] - 1);
    field<T> f;
    f.origin = GUARD + shift - low;
    f.host.resize((size_t)(high - low + 1 + 2 * GUARD + shift));
    for (size_t i = 0; i < f.host.size(); i++) f.host[i] = (T)(1000 + (double)i);
    GPU_OK(filled((void **)&f.device, f.host.size() * sizeof(T)));
    return f;
}
/* Makes an array without guards, and without the rows before `from` and from `to` on. These have no memory at all, so
   that reading them is noticed. */
template <class T>
static field<T> make_part(const trid_lines &lines, int from, int to)
{
    long long low = 0, high = -1;
    for (long long g = 0; g < lines.groups; g++)
        for (long long s = 0; s < lines.systems; s++)
            for (int j = from; j < to; j++) {
                long long at = offset(lines, g, s, j);
                if (high < low) low = high = at;
                if (at < low) low = at;
                if (at > high) high = at;
            }
    field<T> f;
    f.origin = -low;
    f.host.assign((size_t)(high - low + 1), (T)NAN);
    GPU_OK(filled((void **)&f.device, (f.host.size() + (high < low)) * sizeof(T)));
    return f;
}
template <class T>
static void upload(field<T> &f)
{
    GPU_OK(cudaMemcpy(f.device, f.host.data(), f.host.size() * sizeof(T), cudaMemcpyHostToDevice));
}

#ifndef BATCH_FIELD_OWN_LAUNCHES
/* Whether calls ask for no report; nothing is counted then. */
static int silent;

/* Tests one call on random dominant systems, |b| >= 1.4 (|a| + |c|). The largest error over the largest element of x is
   then bounded by the condition number, 2.4 / 0.4 = 6, times the backward error of elimination in partitions, a dozen
   unit roundoffs or so: 128 in all. a[0] and c[n-1] must not matter: they are NaN, or have no memory. b and c lie one
   and two elements further off alignment than the others, unless shift is ALIGNED: then all arrays are aligned. If
   systems are transposed, the transposed matrices are the dominant ones. */
template <class T>
static void test_solve(const char *name, trid_lines lines, int flags, int in_place, int shift, int check = 0)
{
    const double unit = sizeof(T) == 4 ? UNIT_F32 : UNIT_F64, tolerance = 128 * unit;
    const int n = (int)lines.n, add = flags & TRID_BATCH_ADD, shared = flags & TRID_BATCH_SHARED;
    const int transposed = (flags & TRID_BATCH_TRANSPOSED) != 0, tight = case_below(&dice, 2);
    const int apart = shift != ALIGNED;
    trid_lines matrix = lines;
    if (shared) matrix = trid_lines_contiguous(n, 1);
    if (shift == ALIGNED) shift = 0;
    field<T> a = tight ? make_part<T>(matrix, 1, n) : make_field<T>(matrix, shift);
    field<T> b = make_field<T>(matrix, shift + apart);
    field<T> c = tight ? make_part<T>(matrix, 0, n - 1) : make_field<T>(matrix, shift + 2 * apart);
    field<T> d = make_field<T>(lines, shift), x = in_place ? d : make_field<T>(lines, shift);
    for (long long g = 0; g < matrix.groups; g++)
        for (long long s = 0; s < matrix.systems; s++)
            for (int j = 0; j < n; j++) {
                long long at = offset(matrix, g, s, j);
                double left = case_between(&dice, -1, 1), right = case_between(&dice, -1, 1);
                double size = (fabs(left) + fabs(right)) * case_between(&dice, 1.4, 3) + 0.1;
                long long above = transposed ? offset(matrix, g, s, j - 1) : at;
                long long below = transposed ? offset(matrix, g, s, j + 1) : at;
                if (j > 0) (transposed ? c : a)[above] = (T)left;
                if (j < n - 1) (transposed ? a : c)[below] = (T)right;
                if (j == 0 && !tight) a[at] = (T)NAN;
                if (j == n - 1 && !tight) c[at] = (T)NAN;
                b[at] = (T)(case_below(&dice, 2) ? size : -size);
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
    told report = {device_status + 1, check == 1 ? device_residual : 0, 0, device_failed};
    const told *told = silent ? 0 : &report;
    upload(a), upload(b), upload(c), upload(d);
    if (!in_place) upload(x);
    field<T> before = in_place ? d : x;
    T *to = in_place ? d.at() : x.at();
    const trid_lines given = group_left_out(lines);
    int launched = check == 2 ? pivoted(given, flags, a.at(), b.at(), c.at(), d.at(), to, told)
                   : check    ? checked(given, flags, a.at(), b.at(), c.at(), d.at(), to, told)
                              : solve(given, flags, a.at(), b.at(), c.at(), d.at(), to, told);
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
                long long at = offset(lines, g, s, j), from = shared ? j : at, step = shared ? 1 : lines.step;
                la[(size_t)j] = j == 0 ? (T)0 : transposed ? c[from - step] : a[from];
                lc[(size_t)j] = j == n - 1 ? (T)0 : transposed ? a[from + step] : c[from];
                lb[(size_t)j] = b[from], ld[(size_t)j] = d[at];
            }
            batch_answer(n, la.data(), lb.data(), lc.data(), ld.data(), lx.data());
            double size = 0, error = 0;
            if (check &&
                !add) { /* both residuals are of the same x, so they differ only by rounding */
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
                /* The old x and the solution added to it may cancel. */
                size = std::max(size, (double)fabsl(lx[(size_t)j]) + (add ? fabs((double)before[at]) : 0));
                if (!(e <= error)) error = e;
                before[at] = after[(size_t)(before.origin + at)]; /* below, only the guards are compared */
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
#endif

CASE_FUNCTION int transposed_or_not(void)
{
    return case_below(&dice, 2) ? TRID_BATCH_TRANSPOSED : 0;
}

/* The layouts to be tested. */
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
        {"interleaved upwards", {l, -m, m, 1, 1, 0}},     {"structures", {l, 4 * m, m, 4, 1, 0}},
        {"groups", {l, 1, m, l, 3, (m + 1) * l}},         {"y lines", {l, m, m, 1, 3, m * l + 5}},
        {"z lines", trid_lines_axis(m, 2, l, 2)},
    };
    return list;
}

#endif
