/* test_batch_several.cu - trid/batch.h: several right-hand sides, factors that are kept, transposed and periodic
   systems, on a GPU or under tests/simt.
   MIT licence, see LICENSE.

   The reference is elimination with pivoting in long double. For periodic systems it is bordered, and used only if it
   satisfies the rows of the system. */
#include "trid/batch.h"

#include "batch_field.h"

static int several(trid_lines lines, long long sides, long long pitch, int flags, const float *a, const float *b,
                   const float *c, const float *d, float *x, const told *report)
{
    scratch_memory scratch(lines, flags, sizeof *x);
    return trid_batch_several_f32(lines, sides, pitch, a, b, c, d, x, asked(flags, report, &scratch), 0);
}
static int several(trid_lines lines, long long sides, long long pitch, int flags, const double *a, const double *b,
                   const double *c, const double *d, double *x, const told *report)
{
    scratch_memory scratch(lines, flags, sizeof *x);
    return trid_batch_several_f64(lines, sides, pitch, a, b, c, d, x, asked(flags, report, &scratch), 0);
}
static int factor(trid_lines lines, int flags, const float *a, const float *b, const float *c, float *r, float *u,
                  const told *report)
{
    return trid_batch_factor_f32(lines, a, b, c, r, u, asked(flags, report), 0);
}
static int factor(trid_lines lines, int flags, const double *a, const double *b, const double *c, double *r, double *u,
                  const told *report)
{
    return trid_batch_factor_f64(lines, a, b, c, r, u, asked(flags, report), 0);
}

/* Solves A x = d, where a[0] and c[n-1] couple the ends. */
static void ring_solve(int n, const long double *a, const long double *b, const long double *c, const long double *d,
                       long double *x)
{
    if (n == 1) {
        x[0] = d[0] / (a[0] + b[0] + c[0]);
        return;
    }
    std::vector<long double> g((size_t)n), y((size_t)n), z((size_t)n);
    g[0] += a[0], g[(size_t)n - 2] += c[n - 2];
    batch_answer(n - 1, a, b, c, d, y.data());
    batch_answer(n - 1, a, b, c, g.data(), z.data());
    size_t up = 0, down = (size_t)n - 2;
    x[n - 1] = (d[n - 1] - a[n - 1] * y[down] - c[n - 1] * y[up]) / (b[n - 1] - a[n - 1] * z[down] - c[n - 1] * z[up]);
    for (int j = 0; j < n - 1; j++) x[j] = y[(size_t)j] - z[(size_t)j] * x[n - 1];
}

/* Computes the residual d - A x of such a system. Returns the largest, relative to the terms of its row. */
static double ring_residual(int n, const long double *a, const long double *b, const long double *c,
                            const long double *d, const long double *x, long double *rest)
{
    double worst = 0;
    for (int j = 0; j < n; j++) {
        const long double l = a[j] * x[j > 0 ? j - 1 : n - 1], m = b[j] * x[j], r = c[j] * x[j < n - 1 ? j + 1 : 0];
        rest[j] = d[j] - (l + m + r);
        const double e = (double)(fabsl(rest[j]) / (fabsl(l) + fabsl(m) + fabsl(r) + fabsl(d[j])));
        if (!(e <= worst)) worst = e;
    }
    return worst;
}

/* Solves such a system with a step of refinement, because y and z may be much larger than x. Returns the residual of
   the result. */
static double ring_answer(int n, const long double *a, const long double *b, const long double *c, const long double *d,
                          long double *x)
{
    std::vector<long double> rest((size_t)n), correction((size_t)n);
    ring_solve(n, a, b, c, d, x);
    ring_residual(n, a, b, c, d, x, rest.data());
    ring_solve(n, a, b, c, rest.data(), correction.data());
    for (int j = 0; j < n; j++) x[j] += correction[(size_t)j];
    return ring_residual(n, a, b, c, d, x, rest.data());
}

template <class T>
static bool unchanged(const field<T> &f)
{
    std::vector<T> after(f.host.size());
    GPU_OK(cudaMemcpy(after.data(), f.device, after.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return after.empty() || !memcmp(after.data(), f.host.data(), after.size() * sizeof(T));
}

/* The row of a system that gets a pivot of zero. */
struct fault {
    long long group, system;
    int row;
};

/* A factor for the columns of some periodic matrices: recurrences grow where it falls, so that threads take turns. */
static double steepness(int j)
{
    return pow(10, 2.5 * sin(0.3 * j));
}

/* One call on random matrices, dominant by rows and by columns, with |b| >= 1.4 times the larger sum, as in test_solve.
   The bound is the same, and twice that for periodic systems, which add two solutions. What the call must not read is
   NaN or has no memory. */
template <class T>
static void test_several(const char *name, trid_lines lines, long long sides, long long pitch, int flags, int in_place,
                         int shift, const fault *spoil = 0)
{
    const double unit = sizeof(T) == 4 ? UNIT_F32 : UNIT_F64;
    const int n = (int)lines.n, add = flags & TRID_BATCH_ADD, periodic = (flags & TRID_BATCH_PERIODIC) != 0;
    const int transposed = (flags & TRID_BATCH_TRANSPOSED) != 0, factored = (flags & TRID_BATCH_FACTORED) != 0;
    const int kept = factored && case_below(&dice, 2); /* r is b and u is c */
    const int steep = periodic && case_below(&dice, 4) == 0;
    const int pivots = n > 18 && n <= TRID_P_BATCH_ON_CHIP_LU && !spoil && !steep && case_below(&dice, 3) == 0;
    const int tight = !periodic && !factored && case_below(&dice, 2), shared = (flags & TRID_BATCH_SHARED) != 0;
    const trid_lines own = shared ? trid_lines_contiguous(n, 1) : lines; /* of the matrices */
    const double tolerance = (periodic ? 256 : 128) * unit;
    char what[256];
    snprintf(what, sizeof what, "%s %s n %d, %lld x %lld systems, %lld sides, pitch %lld, flags %d%s, shift %d%s%s",
             name, sizeof(T) == 4 ? "f32" : "f64", n, lines.systems, lines.groups, sides, pitch, flags,
             in_place ? ", in place" : "", shift, spoil ? ", spoilt" : "", steep ? ", steep" : "");
    field<T> a = tight ? make_part<T>(own, 1, n) : make_field<T>(own, shift);
    field<T> b = make_field<T>(own, shift + 1);
    field<T> c = tight ? make_part<T>(own, 0, n - 1) : make_field<T>(own, shift + 2);
    field<T> r = make_field<T>(own, shift + 1), u = make_field<T>(own, shift);
    field<T> d = make_field<T>(lines, shift, sides, pitch);
    field<T> x = in_place ? d : make_field<T>(lines, shift, sides, pitch);
    for (long long g = 0; g < own.groups; g++)
        for (long long s = 0; s < own.systems; s++) {
            const int bad = spoil && spoil->group == g && spoil->system == s ? spoil->row : -1;
            for (int j = 0; j < n; j++) {
                if (j > 0 || !tight) a[offset(own, g, s, j)] = (T)case_between(&dice, -1, 1);
                if (j < n - 1 || !tight) c[offset(own, g, s, j)] = (T)case_between(&dice, -1, 1);
            }
            for (int j = 0; j < n; j++) {
                long long at = offset(own, g, s, j);
                long long above = offset(own, g, s, j > 0 ? j - 1 : n - 1),
                          below = offset(own, g, s, j < n - 1 ? j + 1 : 0);
                int first = j == 0 && !periodic, last = j == n - 1 && !periodic;
                double row = (first ? 0 : fabs((double)a[at])) + (last ? 0 : fabs((double)c[at]));
                double column = (first ? 0 : fabs((double)c[above])) + (last ? 0 : fabs((double)a[below]));
                double size = std::max(row, column) * case_between(&dice, 1.4, 3) + 0.1;
                b[at] = (T)(case_below(&dice, 2) ? size : -size);
            }
            if (bad >= 0) { /* the row and the others are not coupled */
                b[offset(own, g, s, bad)] = 0;
                if (bad > 0 || periodic) a[offset(own, g, s, bad)] = 0;
                if (bad < n - 1 || periodic) c[offset(own, g, s, bad)] = 0;
                if (bad > 0) c[offset(own, g, s, bad - 1)] = 0;
                if (bad < n - 1) a[offset(own, g, s, bad + 1)] = 0;
            }
            if (pivots) { /* elimination within a partition would divide by 0, elimination by rows does not */
                a[offset(own, g, s, 16)] = c[offset(own, g, s, 16)] = c[offset(own, g, s, 15)] = 1;
                a[offset(own, g, s, 17)] = b[offset(own, g, s, 16)] = 0;
            }
            for (int j = 0; j < n && steep; j++) {
                a[offset(own, g, s, j)] *= (T)steepness(j > 0 ? j - 1 : n - 1);
                b[offset(own, g, s, j)] *= (T)steepness(j);
                c[offset(own, g, s, j)] *= (T)steepness(j < n - 1 ? j + 1 : 0);
            }
            if (!periodic && !tight) a[offset(own, g, s, 0)] = c[offset(own, g, s, n - 1)] = (T)NAN;
        }
    for (long long g = 0; g < lines.groups; g++)
        for (long long s = 0; s < lines.systems; s++)
            for (long long k = 0; k < sides; k++)
                for (int j = 0; j < n; j++) {
                    long long at = offset(lines, g, s, j) + k * pitch;
                    x[at] = add ? (T)case_between(&dice, -1, 1) : (T)NAN;
                    d[at] = (T)case_between(&dice, -1, 1);
                }
    field<T> before = in_place ? d : x, b0 = b, c0 = c;
    const long long systems = lines.systems * lines.groups;
    std::vector<int> status((size_t)systems + 2, 77);
    int *device_status;
    unsigned long long failed[2] = {5, 5}, *device_failed;
    GPU_OK(filled((void **)&device_status, status.size() * sizeof(int)));
    GPU_OK(filled((void **)&device_failed, sizeof failed));
    told report = {device_status + 1, 0, 0, device_failed};
    upload(a), upload(b), upload(c), upload(d), upload(r), upload(u);
    if (!in_place) upload(x);
    field<T> &fr = kept ? b : r, &fu = kept ? c : u;
    const long long index = spoil ? spoil->group * lines.systems + spoil->system : -1;
    for (int call = factored ? 0 : 1; call < 2; call++) {
        GPU_OK(cudaMemset(device_failed, 5, sizeof failed));
        std::fill(status.begin(), status.end(), 77);
        GPU_OK(cudaMemcpy(device_status, status.data(), status.size() * sizeof(int), cudaMemcpyHostToDevice));
        int launched =
            call == 0 ? factor(group_left_out(own), flags & TRID_BATCH_PERIODIC, a.at(), b.at(), c.at(), fr.at(),
                               fu.at(), silent ? 0 : &report)
                      : several(group_left_out(lines), sides, pitch, flags, a.at(), factored ? fr.at() : b.at(),
                                factored ? fu.at() : c.at(), d.at(), in_place ? d.at() : x.at(), silent ? 0 : &report);
        CHECK(launched == TRID_BATCH_OK, "%s: %s", what, trid_batch_status_string(launched));
        if (call == 0) { /* only factors have been written */
            field<T> *both[2] = {&fr, &fu};
            for (field<T> *f : both) {
                std::vector<T> after(f->host.size());
                GPU_OK(cudaMemcpy(after.data(), f->device, after.size() * sizeof(T), cudaMemcpyDeviceToHost));
                for (long long g = 0; g < own.groups; g++)
                    for (long long s = 0; s < own.systems; s++)
                        for (int j = 0; j < n; j++) {
                            long long at = offset(own, g, s, j);
                            (*f)[at] = after[(size_t)(f->origin + at)];
                        }
                CHECK(!memcmp(after.data(), f->host.data(), after.size() * sizeof(T)), "%s: wrote beyond factors",
                      what);
            }
        }
        GPU_OK(cudaMemcpy(status.data(), device_status, status.size() * sizeof(int), cudaMemcpyDeviceToHost));
        GPU_OK(cudaMemcpy(failed, device_failed, sizeof failed, cudaMemcpyDeviceToHost));
        if (silent) continue;
        const int told = spoil && !(call == 0 && n > TRID_P_BATCH_ON_CHIP_LU);
        const long long matrices = call == 0 ? own.systems * own.groups : systems;
        long wrong = 0;
        for (long long s = -1; s <= systems; s++)
            wrong += status[(size_t)s + 1] != (s < 0 || s >= matrices ? 77 : told && s == index ? spoil->row + 1 : 0);
        CHECK(wrong == 0, "%s: %ld statuses wrong after call %d; of the one spoilt %d, row %d", what, wrong, call,
              spoil ? status[(size_t)index + 1] : 0, spoil ? spoil->row : -1);
        if (told)
            CHECK(failed[0] == 1 && failed[1] == (unsigned long long)index, "%s: failed %llu %llu", what, failed[0],
                  failed[1]);
        else
            CHECK(failed[0] == 0 && failed[1] == ~0ull, "%s: failed %llu %llu", what, failed[0], failed[1]);
    }
    CHECK(unchanged(a) && unchanged(b) && unchanged(c) && (in_place || unchanged(d)) && unchanged(r) && unchanged(u),
          "%s: an input was changed", what);
    std::vector<T> after(before.host.size());
    GPU_OK(cudaMemcpy(after.data(), in_place ? d.device : x.device, after.size() * sizeof(T), cudaMemcpyDeviceToHost));

    double worst = 0, doubt = 0;
    std::vector<long double> la((size_t)n), lb((size_t)n), lc((size_t)n), ld((size_t)n), lx((size_t)n);
    for (long long g = 0; g < lines.groups; g++)
        for (long long s = 0; s < lines.systems; s++)
            for (long long k = 0; k < sides; k++) {
                const int known = g * lines.systems + s != index;
                for (int j = 0; j < n; j++) {
                    const long long group = shared ? 0 : g, system = shared ? 0 : s, at = offset(own, group, system, j);
                    const long long above = offset(own, group, system, j > 0 ? j - 1 : n - 1),
                                    below = offset(own, group, system, j < n - 1 ? j + 1 : 0);
                    int first = j == 0 && !periodic, last = j == n - 1 && !periodic;
                    la[(size_t)j] = first ? (T)0 : transposed ? c0[above] : a[at];
                    lc[(size_t)j] = last ? (T)0 : transposed ? a[below] : c0[at];
                    lb[(size_t)j] = b0[at], ld[(size_t)j] = d[offset(lines, g, s, j) + k * pitch];
                }
                if (periodic && known)
                    doubt = std::max(doubt, ring_answer(n, la.data(), lb.data(), lc.data(), ld.data(), lx.data()));
                else if (known)
                    batch_answer(n, la.data(), lb.data(), lc.data(), ld.data(), lx.data());
                double size = 0, error = 0;
                for (int j = 0; j < n; j++) {
                    long long at = offset(lines, g, s, j) + k * pitch;
                    if (known) {
                        long double want = lx[(size_t)j] + (add ? (long double)before[at] : 0);
                        double e = (double)fabsl((long double)after[(size_t)(before.origin + at)] - want);
                        size = std::max(size, (double)fabsl(lx[(size_t)j]) + (add ? fabs((double)before[at]) : 0));
                        if (!(e <= error)) error = e;
                    }
                    before[at] = after[(size_t)(before.origin + at)];
                }
                if (known && !(error / size <= worst)) worst = error / size;
            }
    check_near(worst, 0, tolerance, "%s: error", what);
    check_near(doubt, 0, 1e-17, "%s: the answer itself", what);
    CHECK(!memcmp(after.data(), before.host.data(), after.size() * sizeof(T)), "%s: wrote beyond x", what);
    T *all[6] = {a.device, b.device, c.device, d.device, r.device, u.device};
    for (T *p : all) GPU_OK(cudaFree(p));
    if (!in_place) GPU_OK(cudaFree(x.device));
    GPU_OK(cudaFree(device_status));
    GPU_OK(cudaFree(device_failed));
}

/* Rows around the limits of rows a lane, of lanes a system and of partitions, in both precisions. */
static const int sizes[] = {1,  2,   3,   4,   5,   8,   9,   15,  16,  17,  31,  32,  33,  63,   64,
                            65, 100, 127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 700, 1023, 1024};

/* Right-hand sides one after another, with a gap, backwards, or with the elements of all sides beside each other. */
template <class T>
static void test_pitches(const layout &l, int flags, const fault *spoil = 0)
{
    static const long long counts[] = {1, 2, 5};
    trid_lines lines = l.lines;
    long long sides = counts[case_below(&dice, lines.n > 200 ? 2 : 3)], reach = 1;
    const int kind = case_below(&dice, 4), in_place = case_below(&dice, 2), shift = case_below(&dice, 4);
    if (kind == 3) {
        lines.step *= sides, lines.stride *= sides, lines.jump *= sides;
        test_several<T>(l.name, lines, sides, 1, flags, in_place, shift, spoil);
        return;
    }
    long long steps[3] = {lines.step, lines.stride, lines.jump}, count[3] = {lines.n, lines.systems, lines.groups};
    for (int i = 0; i < 3; i++) reach += llabs(steps[i]) * (count[i] - 1);
    test_several<T>(l.name, lines, sides, kind == 2 ? -reach : reach + 3 * kind, flags, in_place, shift, spoil);
}

template <class T>
static void test_layouts(void)
{
    const int spoilt = TRID_BATCH_ADD | TRID_BATCH_TRANSPOSED | TRID_BATCH_PERIODIC | TRID_BATCH_FACTORED;
    const int all = spoilt | TRID_BATCH_SHARED;
    for (int n : sizes)
        for (const layout &l : layouts(n, n > 60 ? 3 : 9)) {
            if (n > 200 && case_below(&dice, 4)) continue;
            int flags = case_below(&dice, all + 1) & all;
            silent = case_below(&dice, 8) == 0;
            test_pitches<T>(l, flags);
            silent = 0;
            if (n > 200 && case_below(&dice, 2)) continue;
            fault spoil = {case_below(&dice, (int)l.lines.groups), case_below(&dice, (int)l.lines.systems),
                           case_below(&dice, n)};
            test_pitches<T>(l, case_below(&dice, spoilt + 1) & spoilt, &spoil);
        }
    /* Every combination of flags at the limits of the kernels' rows. */
    for (int n : {1, 2, 3, 16, 64, 512, 1024})
        for (int flags = 0; flags <= all; flags++)
            if ((flags & all) == flags && (n < 100 || !(flags & TRID_BATCH_ADD))) {
                test_several<T>("contiguous", trid_lines_contiguous(n, n < 100 ? 32 : 1), 2, n < 100 ? 32 * n : n,
                                flags, 0, 0);
                test_several<T>("interleaved", trid_lines_interleaved(n, 3), 2, 3 * n, flags, 1, 0);
            }
    /* One right-hand side, of matrices that are dominant and of others: each elimination several times. */
    for (int n : {1, 2, 3, 16, 17, 31, 33, 64, 65, 100, 128, 200, 255, 256})
        for (int trial = 0; trial < 6; trial++) {
            const int flags = trial % 3 ? TRID_BATCH_PERIODIC : 0;
            test_several<T>("contiguous", trid_lines_contiguous(n, 5), 1, 0, flags, 0, 0);
            test_several<T>("interleaved", trid_lines_interleaved(n, n < 100 ? 36 : 3), 1, 0, flags, 0, 0);
        }
}

/* Systems longer than a block can hold. */
template <class T>
static void test_long(void)
{
    static const int ways[] = {0,
                               TRID_BATCH_ADD,
                               TRID_BATCH_TRANSPOSED,
                               TRID_BATCH_PERIODIC,
                               TRID_BATCH_PERIODIC | TRID_BATCH_ADD,
                               TRID_BATCH_PERIODIC | TRID_BATCH_TRANSPOSED,
                               TRID_BATCH_SHARED,
                               TRID_BATCH_SHARED | TRID_BATCH_PERIODIC,
                               TRID_BATCH_SHARED | TRID_BATCH_PERIODIC | TRID_BATCH_ADD};
    static const int from[] = {0, TRID_BATCH_FACTORED};
    for (int flags : ways)
        for (int factored : from) {
            layout choice[5] = {{"long", trid_lines_contiguous(1025, 2)},
                                {"long interleaved", trid_lines_interleaved(1030, 3)},
                                {"long groups", {1027, 1, 2, 1030, 2, 3000}},
                                {"long y lines", {1025, 2, 2, 1, 2, 2060}},
                                {"long every third", {1026, 3, 2, 3100, 1, 0}}};
            int which = case_below(&dice, 5);
            test_several<T>(choice[which].name, choice[which].lines, 2, 9000, flags | factored, case_below(&dice, 2),
                            0);
        }
    const int beyond = 16384 / (int)sizeof(T) + 1; /* a block */
    test_several<T>("longer", trid_lines_contiguous(beyond, 1), 2, 5000, TRID_BATCH_TRANSPOSED, 1, 1);
    test_several<T>("longer", trid_lines_contiguous(beyond, 1), 1, 0, TRID_BATCH_PERIODIC, 0, 0);
    /* Periodic systems of whole chunks, and some whose reduced systems are long again. */
    test_several<T>("whole chunks", trid_lines_contiguous(1536, 2), 1, 0, TRID_BATCH_PERIODIC, 0, 0);
    test_several<T>("whole chunks", trid_lines_interleaved(1152, 3), 1, 0, TRID_BATCH_PERIODIC, 0, 0);
    const trid_lines longest = sizeof(T) == 4 ? trid_lines_interleaved(70001, 2) : trid_lines_contiguous(300001, 1);
    test_several<T>("longest", longest, 1, 0, TRID_BATCH_PERIODIC, 0, 0);
    fault spoil = {0, 1, 700}, end = {0, 1, 1024};
    test_several<T>("long", trid_lines_contiguous(1025, 2), 1, 0, 0, 0, 0, &spoil);
    test_several<T>("long", trid_lines_contiguous(1025, 2), 2, 3000, TRID_BATCH_PERIODIC, 0, 0, &end);
    test_several<T>("long", trid_lines_contiguous(1025, 2), 2, 3000, TRID_BATCH_PERIODIC, 0, 0, &spoil);
}

/* Which calls are refused because arrays overlap, against a test of every element. A matrix that all systems share must
   not lie between elements of x either. */
template <class T>
static void test_overlaps(void)
{
    enum { CELLS = 400 };
    T *memory;
    GPU_OK(filled((void **)&memory, CELLS * sizeof(T)));
    long refused = 0, made = 0;
    for (int trial = 0; trial < 1500; trial++) {
        trid_lines lines = {1 + case_below(&dice, 3),  case_below(&dice, 9) - 4, 1 + case_below(&dice, 3),
                            case_below(&dice, 17) - 8, 1 + case_below(&dice, 2), case_below(&dice, 21) - 10};
        if (trid_lines_check(lines)) continue;
        const long long sides = 1 + case_below(&dice, 3), pitch = case_below(&dice, 41) - 20;
        long long at[5];
        for (int k = 0; k < 5; k++) at[k] = 100 + case_below(&dice, 200);
        if (case_below(&dice, 2)) at[4] = at[3];
        const int periodic = case_below(&dice, 2) ? TRID_BATCH_PERIODIC : 0, ends = !periodic; /* are not elements */
        const int shared = case_below(&dice, 3) ? 0 : TRID_BATCH_SHARED;
        long long low = CELLS, high = -1;             /* of x */
        int owner[CELLS] = {0}, want = TRID_BATCH_OK; /* x, d, matrix */
        for (int pass = 0; pass < 3; pass++)          /* x, then d, then a, b, c */
            for (int array = pass == 2 ? 0 : 4 - pass; array <= (pass == 2 ? 2 : 4 - pass); array++)
                for (long long k = 0; k < (pass == 2 ? 1 : sides); k++)
                    for (long long g = 0; g < lines.groups; g++)
                        for (long long s = 0; s < lines.systems; s++)
                            for (long long j = pass == 2 && array == 0 ? ends : 0;
                                 j < (pass == 2 && array == 2 ? lines.n - ends : lines.n); j++) {
                                long long cell = at[array] + offset(lines, g, s, j) + k * pitch;
                                if (pass == 2 && shared) cell = at[array] + j;
                                if (pass == 0) low = std::min(low, cell), high = std::max(high, cell);
                                if (pass == 0)
                                    owner[cell] ? want = TRID_BATCH_OVERLAP : owner[cell] = 1;
                                else if (pass == 2 && shared && cell >= low && cell <= high)
                                    want = TRID_BATCH_OVERLAP;
                                else if (owner[cell] && !(pass == 1 && at[3] == at[4]))
                                    want = TRID_BATCH_OVERLAP;
                            }
        if (want == TRID_BATCH_OK && made > 60) continue; /* enough such calls have run */
        int got = several(lines, sides, pitch, periodic | shared, memory + at[0], memory + at[1], memory + at[2],
                          memory + at[3], memory + at[4], 0);
        CHECK(got == want, "n %lld step %lld, %lld by %lld, %lld by %lld, %lld sides by %lld: %d, not %d", lines.n,
              lines.step, lines.systems, lines.stride, lines.groups, lines.jump, sides, pitch, got, want);
        want == TRID_BATCH_OK ? made++ : refused++;
    }
    CHECK(made > 20 && refused > 100, "%ld calls made and %ld refused", made, refused);
    GPU_OK(cudaFree(memory));
}

template <class T>
static void test_refused(void)
{
    enum { CELLS = 64 };
    T *p;
    GPU_OK(filled((void **)&p, CELLS * sizeof(T)));
    T *none = 0;
    const trid_lines lines = trid_lines_contiguous(3, 2), empty = trid_lines_contiguous(0, 2);
    trid_lines bad = lines;
    bad.n = -1;
    CHECK(several(empty, 2, 6, 0, none, none, none, none, none, 0) == TRID_BATCH_OK, "no rows");
    CHECK(several(lines, 0, 6, 0, none, none, none, none, none, 0) == TRID_BATCH_OK, "no sides");
    CHECK(several(lines, -1, 6, 0, p, p + 6, p + 12, p + 18, p + 30, 0) == TRID_BATCH_BAD_SIZE, "sides < 0");
    CHECK(several(bad, 1, 6, 0, p, p + 6, p + 12, p + 18, p + 30, 0) == TRID_BATCH_BAD_SIZE, "n < 0");
    CHECK(several(lines, 3, 1ll << 59, 0, p, p + 6, p + 12, p + 18, p + 30, 0) == TRID_BATCH_BAD_SIZE, "a far side");
    CHECK(several(lines, 1, 6, TRID_BATCH_REPAIR, p, p + 6, p + 12, p + 18, p + 30, 0) == TRID_BATCH_BAD_FLAGS,
          "a flag of others");
    CHECK(several(lines, 1, 6, 0, p, none, p + 12, p + 18, p + 30, 0) == TRID_BATCH_BAD_ARGUMENT, "no b");
    CHECK(several(lines, 1, 6, 0, p, p + 6, p + 12, p + 18, none, 0) == TRID_BATCH_BAD_ARGUMENT, "no x");
    CHECK(several(trid_lines_contiguous(1, 2), 2, 1, 0, p, p + 6, p + 12, p + 18, p + 30, 0) == TRID_BATCH_OVERLAP,
          "sides upon systems");
    CHECK(trid_batch_several_f32(trid_lines_contiguous(1025, 1), 1, 0, (float *)p, (float *)p + 2000, (float *)p + 4000,
                                 (float *)p + 6000, (float *)p + 8000, asked(TRID_BATCH_PERIODIC, 0),
                                 0) == TRID_BATCH_BAD_SCRATCH,
          "no scratch");
    CHECK(factor(empty, 0, none, none, none, none, none, 0) == TRID_BATCH_OK, "no rows to factor");
    CHECK(factor(bad, 0, p, p + 6, p + 12, p + 18, p + 24, 0) == TRID_BATCH_BAD_SIZE, "n < 0 to factor");
    CHECK(factor(lines, TRID_BATCH_ADD, p, p + 6, p + 12, p + 18, p + 24, 0) == TRID_BATCH_BAD_FLAGS, "factors added");
    CHECK(factor(lines, 0, p, p + 6, p + 12, none, p + 24, 0) == TRID_BATCH_BAD_ARGUMENT, "no r");
    const int wrong[][2] = {{18, 18}, {18, 20}, {0, 24}, {1, 24}, {7, 24}, {12, 24}, {18, 0}, {18, 6}, {18, 13}};
    for (const int *to : wrong)
        CHECK(factor(lines, 0, p, p + 6, p + 12, p + to[0], p + to[1], 0) == TRID_BATCH_OVERLAP, "r at %d, u at %d",
              to[0], to[1]);
    CHECK(factor(lines, 0, p, p + 6, p + 12, p + 6, p + 12, 0) == TRID_BATCH_OK, "r is b, u is c");
    GPU_OK(cudaFree(p));
}

int main(void)
{
    test_refused<float>();
    test_refused<double>();
    test_overlaps<float>();
    test_overlaps<double>();
    test_layouts<float>();
    test_layouts<double>();
    test_long<float>();
    test_long<double>();
    return check_report();
}
