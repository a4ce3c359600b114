/* test_batch_only.cu - launches of trid/batch.h compiled for some systems only, and kernels that replace others that a
   device or a program does not have, on a GPU or under tests/simt.
   MIT licence, see LICENSE.

   Every launch must solve the systems that its template argument has kernels for, in any layout up to 1024 rows, and
   refuse the rest. The matrices are dominant and d holds their row sums, so x must be 1 everywhere. */
#include "trid/batch.h"

#include "batch_field.h"

/* Systems in which d[j] is the sum of row j of the matrix, and x full of NaN. If shared, one matrix for all. */
template <class T>
struct ones {
    field<T> a, b, c, d, x;
    trid_lines lines;
    int shared;
    ones(const trid_lines &l, int of_all) : d(make_field<T>(l, 1)), x(make_field<T>(l, 1)), lines(l), shared(of_all)
    {
        const trid_lines matrix = shared ? trid_lines_contiguous(l.n, 1) : l;
        a = make_field<T>(matrix, 1), b = make_field<T>(matrix, 1), c = make_field<T>(matrix, 1);
        for (long long i = 0; i < l.groups * l.systems; i++)
            for (long long j = 0; j < l.n; j++) {
                const double left = j > 0 ? -1 - (double)(j % 3) / 4 : 0, right = j < l.n - 1 ? 0.5 : 0;
                const double middle = 3.5 + (double)((shared ? 0 : i) % 5 + j % 7) / 8;
                const long long at = offset(l, i / l.systems, i % l.systems, j), of = shared ? j : at;
                if (!shared || i == 0) a[of] = (T)left, b[of] = (T)middle, c[of] = (T)right;
                d[at] = (T)(left + middle + right);
                x[at] = (T)NAN;
            }
        upload(a), upload(b), upload(c), upload(d), upload(x);
    }
    double worst()
    {
        double most = 0;
        GPU_OK(cudaMemcpy(x.host.data(), x.device, x.host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        for (long long i = 0; i < lines.groups * lines.systems; i++)
            for (long long j = 0; j < lines.n; j++) {
                const double off = fabs((double)x[offset(lines, i / lines.systems, i % lines.systems, j)] - 1);
                if (!(off <= most)) most = off;
            }
        return most;
    }
    ~ones()
    {
        T *const all[] = {a.device, b.device, c.device, d.device, x.device};
        for (T *p : all) GPU_OK(cudaFree(p));
    }

  private:
    ones(const ones &);
    ones &operator=(const ones &);
};

enum { SOLVE, CHECKED, SHARED, SEVERAL };

/* |A^-1| < 2 and there are few operations a row, so 64 roundings are more than enough. */
template <class T>
static void expect(const char *name, int only, ones<T> *system, int status, int refused)
{
    const double tolerance = 64 * (sizeof(T) == 4 ? UNIT_F32 : UNIT_F64);
    CHECK(status == (refused ? TRID_BATCH_BAD_SIZE : TRID_BATCH_OK), "%s<%d> n %lld step %lld: %s", name, only,
          system->lines.n, system->lines.step, trid_batch_status_string(status));
    if (status) return;
    const double worst = system->worst();
    CHECK(worst <= tolerance, "%s<%d> n %lld step %lld: error %g", name, only, system->lines.n, system->lines.step,
          worst);
}

template <int OPERATION, int MOST, int ONLY, class T>
static void test_only(const char *name, const trid_lines &lines)
{
    const trid_lines joined = trid_p_lines_join(lines);
    const int other =
        ONLY & (trid_p_lines_are_interleaved(joined) ? TRID_BATCH_ONLY_CONTIGUOUS : TRID_BATCH_ONLY_INTERLEAVED);
    ones<T> s(lines, OPERATION == SHARED);
    scratch_memory scratch(lines, 0, sizeof(T));
    const T *a = s.a.at(), *b = s.b.at(), *c = s.c.at(), *d = s.d.at();
    int status;
    if constexpr (OPERATION == SHARED)
        status = trid_batch_shared<MOST, 1, ONLY>(lines, a, b, c, d, s.x.at(), asked(0, 0, &scratch), 0);
    else if constexpr (OPERATION == SEVERAL)
        status = trid_batch_several<MOST, 1, ONLY>(lines, 1, 0, a, b, c, d, s.x.at(), asked(0, 0, &scratch), 0);
    else if constexpr (OPERATION == CHECKED)
        status = trid_batch_checked<MOST, 1, ONLY>(lines, a, b, c, d, s.x.at(), asked(0, 0, &scratch), 0);
    else
        status = trid_batch_solve<MOST, 1, ONLY>(lines, a, b, c, d, s.x.at(), asked(0, 0, &scratch), 0);
    expect(name, ONLY, &s, status, lines.n > MOST || (lines.n > 1024 && other));
}
template <int OPERATION, int MOST, int ONLY, class T>
static void test_all(const char *name)
{
    static int turn;
    for (int n : {1, 2, 17, 100, 300, 700, 1024, 1025}) {
        test_only<OPERATION, MOST, ONLY, T>(name, trid_lines_interleaved(n, 1));
        for (const layout &l : layouts(n, 5))
            if (!check_short() || turn++ % 4 == 0) test_only<OPERATION, MOST, ONLY, T>(name, l.lines);
    }
}

static constexpr int first_unpipelined(void)
{
    int at = 0;
    while (trid_p_batch_tilings::rows[at].kind < trid_p_batch_how::unpipelined) at++;
    return at;
}
/* The kernels without a pipeline, one of which serves all n where the others are empty. */
template <class T>
static void test_unstaged(void)
{
    for (long long n : {2, 17, 100, 300, 1024}) {
        const trid_lines lines = trid_lines_interleaved(n, 9);
        ones<T> s(lines, 0);
        trid_p_batch_call<T> call = {lines, s.a.at(), s.b.at(), s.c.at(), s.d.at(), s.x.at(), NULL, 0};
        int status = trid_p_batch_begin(&call);
        if (!status)
            status = trid_p_batch_launch_tiling<trid_p_batch_how::hybrid, 1, TRID_BATCH_MAX_N, first_unpipelined()>(
                call.work, 0, call.rows);
        expect("unstaged", 0, &s, status, 0);
    }
}

/* The shapes for contiguous systems that bounds on n compile must be those that serve some n within the bounds. */
template <class T>
static void test_reached(void)
{
    typedef trid_p_batch_how how;
    typedef trid_p_batch_contiguous_shapes table;
    enum { SHAPES = sizeof table::rows / sizeof *table::rows, MOST = 4097 };
    static const int methods[] = {how::hybrid, how::shared, how::checked, how::refined, how::pivoted, how::lu};
    const int ends[] = {1, 2, 9, 16, 17, 33, 100, 512, 513, 768, 1024, 1025, 2049, MOST};
    for (int method : methods)
        for (int least : ends)
            for (int most : ends) {
                int serves[SHAPES + 1] = {0}, wrong = 0;
                for (int n = least; n <= most; n++)
                    for (int layout = how::full; layout <= how::strided; layout++)
                        serves[trid_p_batch_first_shape<T>(method, layout, n)] = 1;
                for (int at = 0; at < SHAPES; at++)
                    wrong += trid_p_batch_is_reached<T>(at, method, least, most) != serves[at];
                CHECK(least > most || !wrong, "method %d, n %d..%d: %d shapes", method, least, most, wrong);
            }
}

/* With bounds on n, systems within them are solved and the others refused. */
template <int MOST, int LEAST>
static void test_bounds(void)
{
    for (int n : {1, 17, 64, 136, 137, 138, 512, 700})
        for (const layout &l : layouts(n, 5)) {
            if (strcmp(l.name, "contiguous") && strcmp(l.name, "interleaved")) continue;
            ones<float> s(l.lines, 0);
            const float *a = s.a.at(), *b = s.b.at(), *c = s.c.at(), *d = s.d.at();
            expect("bounds", MOST, &s, trid_batch_solve<MOST, LEAST>(l.lines, a, b, c, d, s.x.at(), 0, 0),
                   n < LEAST || n > MOST);
            expect("pivoted", MOST, &s, trid_batch_pivoted<MOST, LEAST>(l.lines, a, b, c, d, s.x.at(), 0, 0),
                   n < LEAST || n > MOST);
            ones<float> one(l.lines, 1);
            a = one.a.at(), b = one.b.at(), c = one.c.at(), d = one.d.at();
            expect("shared", MOST, &one, trid_batch_shared<MOST, LEAST>(l.lines, a, b, c, d, one.x.at(), 0, 0),
                   n < LEAST || n > MOST);
            if (n == 1) continue;
            field<float> ends = make_field<float>(trid_lines_contiguous(2, 5), 1);
            for (int i = 0; i < 10; i++) ends[i] = 1; /* x of first and last rows */
            upload(ends);
            ones<float> cut(l.lines, 1);
            expect("expand", MOST, &cut,
                   trid_batch_interface_expand<MOST, LEAST>(l.lines, a, b, c, d, 5, ends.at(), cut.x.at(),
                                                            asked(TRID_BATCH_SHARED, 0), 0),
                   n < LEAST || n > MOST);
            GPU_OK(cudaFree(ends.device));
        }
}

int main(void)
{
    enum { LINES = TRID_BATCH_ONLY_INTERLEAVED, ROWS = TRID_BATCH_ONLY_CONTIGUOUS };
    test_all<SOLVE, TRID_BATCH_MAX_N, ROWS, double>("solve");
    test_all<SOLVE, TRID_BATCH_MAX_N, LINES, double>("solve");
    test_all<SOLVE, 1024, ROWS, float>("solve");
    test_all<SOLVE, 1024, LINES, float>("solve");
    test_all<CHECKED, 1024, ROWS, float>("checked");
    test_all<CHECKED, 1024, LINES, float>("checked");
    test_all<SHARED, 1024, LINES, float>("shared");
    test_all<SEVERAL, 1024, ROWS, float>("several");
    test_bounds<137, 1>();
    test_bounds<137, 137>();
    test_bounds<600, 65>();
    test_unstaged<float>();
    test_reached<float>();
    test_reached<double>();
#ifdef SIMT_EMULATOR
    simt_capability(7, 5);
    test_unstaged<float>();
    test_all<SOLVE, 1024, LINES, float>("solve");
#endif
    if (check_short()) check_skip(1, "three in four layouts: SHORT_TESTS is set");
    return check_report();
}
