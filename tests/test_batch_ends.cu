/* test_batch_ends.cu - lines cut into partitions, one a rank (trid/batch.h): reduced to their ends, exchanged, solved
   and expanded; on a GPU or under tests/simt. MIT licence, see LICENSE.

   One process plays all ranks in turn, each with arrays of its own between guards. Every message is a copy of
   contiguous elements, as it would be between GPUs. Answers are those of the whole lines, from pivoted elimination in
   long double. */
#include "trid/batch.h"

#define BATCH_FIELD_OWN_LAUNCHES
#include "batch_field.h"

/* The launches of both precisions by one name. Only single precision compiles all of the kernels that they share with
   trid_batch_solve; reduced systems are interleaved. */
#define BESIDE 1024, 1, TRID_BATCH_ONLY_INTERLEAVED
#define ENDS_LAUNCHES(T, suffix, ...)                                                                                  \
    CASE_FUNCTION int reduce_ends(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d,         \
                                  long long share, T *ea, T *ec, T *ed, const told *report)                            \
    {                                                                                                                  \
        return trid_batch_interface_reduce_##suffix(lines, a, b, c, d, share, ea, ec, ed, asked(flags, report), 0);    \
    }                                                                                                                  \
    CASE_FUNCTION int expand_ends(trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d,         \
                                  long long share, const T *ends, T *x, const told *report)                            \
    {                                                                                                                  \
        scratch_memory scratch(lines, flags, sizeof *x);                                                               \
        return trid_batch_interface_expand_##suffix<__VA_ARGS__>(lines, a, b, c, d, share, ends, x,                    \
                                                                 asked(flags, report, &scratch), 0);                   \
    }                                                                                                                  \
    CASE_FUNCTION int factor_ends(trid_lines lines, int flags, const T *a, const T *b, const T *c, T *u, T *v,         \
                                  long long share, T *ea, T *ec, int *reach, const told *report)                       \
    {                                                                                                                  \
        return trid_batch_interface_factor_##suffix(lines, a, b, c, u, v, share, ea, ec, reach, asked(flags, report),  \
                                                    0);                                                                \
    }                                                                                                                  \
    CASE_FUNCTION int weigh_ends(trid_lines lines, int flags, const T *u, const T *v, const T *d, long long first,     \
                                 long long last, long long share, T *ed, const told *report = 0)                       \
    {                                                                                                                  \
        return trid_batch_interface_weigh_##suffix(lines, u, v, d, first, last, share, ed, asked(flags, report), 0);   \
    }                                                                                                                  \
    CASE_FUNCTION int solve(trid_lines lines, int shared, const T *a, const T *b, const T *c, T *x)                    \
    {                                                                                                                  \
        const T *d = x;                                                                                                \
        return shared ? trid_batch_shared_##suffix<BESIDE>(lines, a, b, c, d, x, 0, 0)                                 \
                      : trid_batch_solve_##suffix<BESIDE>(lines, a, b, c, d, x, 0, 0);                                 \
    }                                                                                                                  \
    template <class Rows>                                                                                              \
    CASE_FUNCTION int reduce_made(trid_lines lines, int flags, const Rows &rows, const T *d, long long share, T *ea,   \
                                  T *ec, T *ed)                                                                        \
    {                                                                                                                  \
        return trid_batch_interface_reduce_rows_##suffix(lines, rows, d, share, ea, ec, ed, asked(flags, 0), 0);       \
    }                                                                                                                  \
    template <class Rows>                                                                                              \
    CASE_FUNCTION int expand_made(trid_lines lines, int flags, const Rows &rows, const T *d, long long share,          \
                                  const T *ends, T *x)                                                                 \
    {                                                                                                                  \
        return trid_batch_interface_expand_rows_##suffix<BESIDE>(lines, rows, d, share, ends, x, asked(flags, 0), 0);  \
    }
ENDS_LAUNCHES(float, f32, TRID_BATCH_MAX_N)
ENDS_LAUNCHES(double, f64, BESIDE)

/* Makes an array of `count` elements between guards on the device. */
template <class T>
static field<T> make_row(long long count)
{
    return make_field<T>(trid_lines_contiguous(count, 1), 3);
}
template <class T>
static std::vector<T> download(const field<T> &f)
{
    std::vector<T> all(f.host.size());
    GPU_OK(cudaMemcpy(all.data(), f.device, all.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return all;
}
/* Returns whether all elements except `count` from the origin on are as they were. */
template <class T>
static int guarded(const field<T> &f, long long count)
{
    std::vector<T> all = download(f);
    for (long long i = 0; i < count; i++) all[(size_t)(f.origin + i)] = f.host[(size_t)(f.origin + i)];
    return !memcmp(all.data(), f.host.data(), all.size() * sizeof(T));
}
template <class T>
static void message(T *to, const T *from, long long count)
{
    GPU_OK(cudaMemcpy(to, from, (size_t)count * sizeof(T), cudaMemcpyDeviceToDevice));
}

/* How a case goes. */
enum {
    SHARED = 1,     /* one matrix for all lines */
    FACTORED = 2,   /* with weights: only right-hand sides are sent */
    NEIGHBOURS = 4, /* and only between neighbours */
    GATHERED = 8,   /* one rank solves all reduced systems; else each rank solves a share */
    IN_PLACE = 16,
    ADD = 32,
    MADE = 64,     /* matrices made in registers; with SHARED */
    ON_HOST = 128, /* factored on the host; with SHARED */
    RING = 256     /* the last rank's neighbour is the first: periodic lines, in single precision */
};

/* A function object that makes the rows of one matrix for all lines. */
template <class T>
struct made_rows {
    const T *a, *b, *c;
    template <class R>
    __device__ void operator()(long long, int row, R *ra, R *rb, R *rc) const
    {
        *ra = a[row], *rb = b[row], *rc = c[row];
    }
};

/* One rank: its partition of all lines, and what it sends and receives. */
template <class T>
struct rank_data {
    trid_lines lines, matrix;
    int first, n, flags, reach[2];
    field<T> a, b, c, d, x, u, v, ends_a, ends_c, ends_d, back;
    field<T> all_a, all_c, all_d; /* of the reduced systems that it solves */
    int *device_reach;
};

template <class T>
struct whole_case {
    int how, rows;
    long long lines, share;
    std::vector<rank_data<T>> ranks;
    std::vector<T> a, b, c, d, before; /* of line i row j at [i*rows + j]; of the matrix with SHARED line 0 alone */
    const char *name;
    double stiff; /* how dominant */

    long long at(long long line, int row) const { return line * rows + row; }
    long long matrix_at(long long line, int row) const { return how & SHARED ? row : at(line, row); }
    long long place(const rank_data<T> &r, long long line, int row) const
    {
        return offset(r.lines, line / r.lines.systems, line % r.lines.systems, row);
    }
    long long in_share(long long p) const { return std::min(share, lines - p * share); }
};

#define LAUNCHED(call)                                                                                                 \
    do {                                                                                                               \
        int launched_ = (call);                                                                                        \
        CHECK(launched_ == TRID_BATCH_OK, "%s, case %d: " #call ": %s", w.name, w.how,                                 \
              trid_batch_status_string(launched_));                                                                    \
    } while (0)

/* Makes random dominant lines, |b| >= stiff (|a| + |c|). */
template <class T>
static void fill_whole(whole_case<T> &w)
{
    const size_t all = (size_t)(w.lines * w.rows);
    w.a.resize(all), w.b.resize(all), w.c.resize(all), w.d.resize(all), w.before.resize(all);
    for (size_t i = 0; i < all; i++) {
        double left = case_between(&dice, -1, 1), right = case_between(&dice, -1, 1);
        double size = (fabs(left) + fabs(right)) * case_between(&dice, w.stiff, 2 * w.stiff) + 0.1;
        w.a[i] = (T)left, w.b[i] = (T)(case_below(&dice, 2) ? size : -size), w.c[i] = (T)right;
        w.d[i] = (T)case_between(&dice, -1, 1);
        w.before[i] = (T)case_between(&dice, -1, 1);
    }
}

template <class T>
static void make_rank(whole_case<T> &w, rank_data<T> &r, const layout &l, int shift)
{
    r.lines = l.lines;
    r.matrix = w.how & SHARED ? trid_lines_contiguous(r.n, 1) : r.lines;
    r.flags = (r.first == 0 ? TRID_BATCH_FIRST : 0) | (r.first + r.n == w.rows ? TRID_BATCH_LAST : 0);
    if (w.how & RING) r.flags = 0;
    field<T> *const matrix[3] = {&r.a, &r.b, &r.c};
    const std::vector<T> *const from[3] = {&w.a, &w.b, &w.c};
    for (int k = 0; k < 3; k++) *matrix[k] = make_field<T>(r.matrix, shift + (w.how & MADE ? 0 : k));
    r.u = make_field<T>(r.matrix, shift), r.v = make_field<T>(r.matrix, shift);
    r.d = make_field<T>(r.lines, shift);
    r.x = w.how & IN_PLACE ? r.d : make_field<T>(r.lines, shift);
    for (long long i = 0; i < w.lines; i++)
        for (int j = 0; j < r.n; j++) {
            const long long to = w.place(r, i, j), whole = w.at(i, r.first + j);
            for (int k = 0; k < 3 && (i == 0 || !(w.how & SHARED)); k++) {
                const int unread =
                    !(w.how & RING) && ((k == 0 && r.first + j == 0) || (k == 2 && r.first + j == w.rows - 1));
                const int alone = (w.how & MADE) && unread; /* a function must return a number */
                (*matrix[k])[w.how & SHARED ? j : to] =
                    unread && !alone ? (T)NAN : (*from[k])[(size_t)w.matrix_at(i, r.first + j)];
            }
            r.x[to] = w.how & ADD ? w.before[(size_t)whole] : (T)NAN;
            r.d[to] = w.d[(size_t)whole];
        }
    for (int k = 0; k < 3; k++) upload(*matrix[k]);
    upload(r.u), upload(r.v), upload(r.d);
    if (!(w.how & IN_PLACE)) upload(r.x);
    field<T> *const ends[4] = {&r.ends_a, &r.ends_c, &r.ends_d, &r.back};
    for (field<T> *f : ends) *f = make_row<T>(2 * w.lines), upload(*f);
    field<T> *const all[3] = {&r.all_a, &r.all_c, &r.all_d};
    for (field<T> *f : all) *f = make_row<T>(2 * (long long)w.ranks.size() * w.lines), upload(*f);
    GPU_OK(filled((void **)&r.device_reach, 2 * sizeof(int)));
}

/* Reduces each rank's partition to its ends. */
template <class T>
static void reduce_ranks(whole_case<T> &w)
{
    const int one = w.how & SHARED ? TRID_BATCH_SHARED : 0;
    for (rank_data<T> &r : w.ranks) {
        const T *a = r.a.at(), *b = r.b.at(), *c = r.c.at(), *d = r.d.at();
        if (w.how & FACTORED) {
            const long long few = one ? 1 : w.share;
            if (w.how & ON_HOST) {
                std::vector<T> u((size_t)r.n), v((size_t)r.n), ends(4);
                const T *from[3] = {&r.a[0], &r.b[0], &r.c[0]};
                int status = trid_host_interface_factor(r.n, r.flags, from[0], from[1], from[2], u.data(), v.data(),
                                                        &ends[0], &ends[2], r.reach);
                CHECK(status == 0, "%s: status %d of the factors", w.name, status);
                GPU_OK(cudaMemcpy(r.u.at(), u.data(), u.size() * sizeof(T), cudaMemcpyHostToDevice));
                GPU_OK(cudaMemcpy(r.v.at(), v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
                GPU_OK(cudaMemcpy(r.ends_a.at(), &ends[0], 2 * sizeof(T), cudaMemcpyHostToDevice));
                GPU_OK(cudaMemcpy(r.ends_c.at(), &ends[2], 2 * sizeof(T), cudaMemcpyHostToDevice));
            } else {
                LAUNCHED(factor_ends(group_left_out(r.matrix), r.flags, a, b, c, r.u.at(), r.v.at(), few, r.ends_a.at(),
                                     r.ends_c.at(), r.device_reach, (const told *)0));
                GPU_OK(cudaMemcpy(r.reach, r.device_reach, sizeof r.reach, cudaMemcpyDeviceToHost));
            }
            const int all = !(w.how & NEIGHBOURS);
            if (!all) { /* rows beyond reach are not read */
                CHECK(r.reach[0] < r.n && r.reach[1] < r.n, "%s: reach %d %d of %d rows", w.name, r.reach[0],
                      r.reach[1], r.n);
                field<T> holes = r.d;
                for (long long i = 0; i < w.lines; i++)
                    for (int j = r.reach[0]; j < r.n - r.reach[1]; j++) holes[w.place(r, i, j)] = (T)NAN;
                upload(holes);
            }
            LAUNCHED(weigh_ends(group_left_out(r.lines), one, r.u.at(), r.v.at(), d, all ? r.n : r.reach[0],
                                all ? r.n : r.reach[1], w.share, r.ends_d.at()));
            if (!all) upload(r.d);
        } else if (w.how & MADE) {
            const made_rows<T> made = {a, b, c};
            LAUNCHED(reduce_made(group_left_out(r.lines), r.flags, made, d, w.share, r.ends_a.at(), r.ends_c.at(),
                                 r.ends_d.at()));
        } else {
            LAUNCHED(reduce_ends(group_left_out(r.lines), r.flags | one, a, b, c, d, w.share, r.ends_a.at(),
                                 r.ends_c.at(), r.ends_d.at(), (const told *)0));
        }
    }
}

/* Checks that nothing couples beyond the beginning and end of lines, whatever a[0] and c[n-1] hold. */
template <class T>
static void check_corners(whole_case<T> &w)
{
    const int few = (w.how & SHARED) && (w.how & FACTORED);
    long wrong = 0;
    for (const rank_data<T> &r : w.ranks)
        for (int last = 0; last < 2; last++) {
            const field<T> &f = last ? r.ends_c : r.ends_a;
            const std::vector<T> ends = download(f);
            for (long long i = 0; i < (few ? 1 : w.lines); i++) {
                const long long p = i / w.share, m = few ? 1 : w.in_share(p);
                const T corner = ends[(size_t)(f.origin + p * w.share + i + last * m)];
                wrong += (corner == 0) != ((r.flags & (last ? TRID_BATCH_LAST : TRID_BATCH_FIRST)) != 0);
            }
        }
    CHECK(wrong == 0, "%s, case %d: %ld corners", w.name, w.how, wrong);
}

/* Solves the reduced systems of `rows` rows in the ranks' shares, in place. With one matrix, a and c are those of one
   line. */
template <class T>
static void solve_reduced(whole_case<T> &w, long long rows, long long lines, const T *a, const T *c, T *d)
{
    std::vector<T> ones((size_t)(rows * lines), (T)1);
    T *b;
    GPU_OK(cudaMalloc((void **)&b, ones.size() * sizeof(T)));
    GPU_OK(cudaMemcpy(b, ones.data(), ones.size() * sizeof(T), cudaMemcpyHostToDevice));
    const trid_lines reduced = trid_lines_interleaved(rows, lines);
    if constexpr (sizeof(T) == 4)
        if (w.how & RING)
            LAUNCHED(trid_batch_several_f32<BESIDE>(reduced, 1, 0, a, b, c, (const T *)d, d,
                                                    asked(TRID_BATCH_PERIODIC, 0), 0));
    if (!(w.how & RING)) LAUNCHED(solve(reduced, (w.how & SHARED) && (w.how & FACTORED), a, (const T *)b, c, d));
    GPU_OK(cudaFree(b));
}

/* Sends each rank its share of all ends, and the unknowns back to each rank; if there is one share, rank 0 gets all. */
template <class T>
static void exchange(whole_case<T> &w)
{
    const int R = (int)w.ranks.size(), few = (w.how & SHARED) && (w.how & FACTORED);
    for (int p = 0; p < R && p * w.share < w.lines; p++) {
        const long long m = w.in_share(p), from = 2 * p * w.share;
        rank_data<T> &to = w.ranks[(size_t)p];
        for (int q = 0; q < R; q++) {
            rank_data<T> &r = w.ranks[(size_t)q];
            const long long count = few ? 2 : 2 * m, at = few ? 0 : from;
            message(to.all_a.at() + count * q, r.ends_a.at() + at, count);
            message(to.all_c.at() + count * q, r.ends_c.at() + at, count);
            message(to.all_d.at() + 2 * m * q, r.ends_d.at() + from, 2 * m);
        }
        solve_reduced(w, 2 * R, m, (const T *)to.all_a.at(), (const T *)to.all_c.at(), to.all_d.at());
        for (int q = 0; q < R; q++)
            message(w.ranks[(size_t)q].back.at() + from, (const T *)to.all_d.at() + 2 * m * q, 2 * m);
    }
}

/* Returns a, c or d of what a rank sends. */
template <class T>
static const T *ends_of(const rank_data<T> *r, int k)
{
    return (k == 0 ? r->ends_a : k == 1 ? r->ends_c : r->ends_d).at();
}

/* Solves with neighbours only, by four planes on each rank: the row of z of the rank above, its own of f and z, and
   that of f of the rank below. */
template <class T>
static void exchange_with_neighbours(whole_case<T> &w)
{
    const int R = (int)w.ranks.size();
    const long long m = w.lines, few = w.how & SHARED ? 1 : m;
    for (int q = 0; q < R; q++) {
        const int above = q > 0, below = q < R - 1;
        field<T> a = make_row<T>(4 * m), c = make_row<T>(4 * m), d = make_row<T>(4 * m);
        upload(a), upload(c), upload(d);
        rank_data<T> &r = w.ranks[(size_t)q];
        field<T> *const plane[3] = {&a, &c, &d};
        for (int k = 0; k < 3; k++) {
            const long long each = k == 2 ? m : few;
            T *to = plane[k]->at();
            message(to + each, ends_of(&r, k), 2 * each);
            if (above) message(to, ends_of(&r - 1, k) + each, each);
            if (below) message(to + 3 * each, ends_of(&r + 1, k), each);
        }
        const long long skip = above ? 0 : 1;
        solve_reduced(w, 2 + above + below, m, (const T *)a.at() + skip * few, (const T *)c.at() + skip * few,
                      d.at() + skip * m);
        message(r.back.at(), (const T *)d.at() + m, 2 * m);
        for (field<T> *f : plane) GPU_OK(cudaFree(f->device));
    }
}

template <class T>
static void expand_ranks(whole_case<T> &w)
{
    const int one = w.how & SHARED ? TRID_BATCH_SHARED : 0, add = w.how & ADD ? TRID_BATCH_ADD : 0;
    for (rank_data<T> &r : w.ranks) {
        /* nobody reads the matrix or d of the first and the last row */
        T *const x = w.how & IN_PLACE ? r.d.at() : r.x.at();
        const T *a = r.a.at(), *b = r.b.at(), *c = r.c.at(), *d = r.d.at(), *ends = r.back.at();
        const made_rows<T> made = {a, b, c};
        if constexpr (sizeof(T) == 4)
            if (w.how & MADE) LAUNCHED(expand_made(group_left_out(r.lines), add, made, d, w.share, ends, x));
        if (!(w.how & MADE)) {
            LAUNCHED(expand_ends(group_left_out(r.lines), one | add, a, b, c, d, w.share, ends, x, (const told *)0));
        }
    }
}

/* Compares with the answers. |A^-1| |A| <= 6 if |b| >= 1.4 (|a| + |c|), and there are a dozen roundings in each of
   reducing, solving and expanding. */
template <class T>
static void check_whole(whole_case<T> &w)
{
    const double tolerance = 128 * (sizeof(T) == 4 ? UNIT_F32 : UNIT_F64);
    const size_t n = (size_t)w.rows;
    std::vector<std::vector<T>> after;
    for (rank_data<T> &r : w.ranks) after.push_back(download(w.how & IN_PLACE ? r.d : r.x));
    std::vector<long double> la(n), lb(n), lc(n), ld(n), lx(n);
    double worst = 0;
    for (long long i = 0; i < w.lines; i++) {
        for (size_t j = 0; j < n; j++) {
            const size_t m = (size_t)w.matrix_at(i, (int)j);
            la[j] = w.a[m], lb[j] = w.b[m], lc[j] = w.c[m], ld[j] = w.d[(size_t)w.at(i, (int)j)];
        }
        batch_answer((int)n, la.data(), lb.data(), lc.data(), ld.data(), lx.data());
        double size = 0, error = 0;
        for (size_t q = 0; q < w.ranks.size(); q++)
            for (int j = 0; j < w.ranks[q].n; j++) {
                rank_data<T> &r = w.ranks[q];
                field<T> &kept = w.how & IN_PLACE ? r.d : r.x;
                const size_t at = (size_t)(kept.origin + w.place(r, i, j)), whole = (size_t)w.at(i, r.first + j);
                const long double x = lx[(size_t)(r.first + j)], was = w.how & ADD ? w.before[whole] : (T)0;
                const double e = (double)fabsl((long double)after[q][at] - x - was);
                size = std::max(size, (double)(fabsl(x) + fabsl(was)));
                if (!(e <= error)) error = e;
                kept.host[at] = after[q][at]; /* below, only the guards are compared */
            }
        if (!(error / size <= worst)) worst = error / size;
    }
    check_near(worst, 0, tolerance, "%s %s, %zu ranks, %d rows, %lld lines in shares of %lld, case %d: error", w.name,
               sizeof(T) == 4 ? "f32" : "f64", w.ranks.size(), w.rows, w.lines, w.share, w.how);
    for (size_t q = 0; q < w.ranks.size(); q++) {
        rank_data<T> &r = w.ranks[q];
        const field<T> &kept = w.how & IN_PLACE ? r.d : r.x;
        CHECK(!memcmp(after[q].data(), kept.host.data(), after[q].size() * sizeof(T)), "%s: wrote beyond x", w.name);
        CHECK(guarded(r.ends_a, 2 * w.lines) && guarded(r.ends_c, 2 * w.lines) && guarded(r.ends_d, 2 * w.lines),
              "%s, case %d: wrote beyond the ends", w.name, w.how);
        CHECK(guarded(r.u, 0) || (w.how & FACTORED), "%s: wrote weights", w.name);
    }
}

/* Checks the residual, relative to all terms that are subtracted from d: some roundings. */
template <class T>
static void check_ring(whole_case<T> &w)
{
    const int n = w.rows;
    double worst = 0;
    std::vector<double> x((size_t)n);
    std::vector<std::vector<T>> after;
    for (rank_data<T> &r : w.ranks) after.push_back(download(w.how & IN_PLACE ? r.d : r.x));
    for (long long i = 0; i < w.lines; i++) {
        for (size_t q = 0; q < w.ranks.size(); q++)
            for (int j = 0; j < w.ranks[q].n; j++)
                x[(size_t)(w.ranks[q].first + j)] = after[q][(size_t)(w.ranks[q].x.origin + w.place(w.ranks[q], i, j))];
        double error = 0, size = 0;
        for (int j = 0; j < n; j++) {
            const size_t m = (size_t)w.matrix_at(i, j);
            const double left = (double)w.a[m] * x[(size_t)((j + n - 1) % n)], middle = (double)w.b[m] * x[(size_t)j];
            const double right = (double)w.c[m] * x[(size_t)((j + 1) % n)], d = w.d[(size_t)w.at(i, j)];
            const double e = fabs(left + middle + right - d);
            size = std::max(size, fabs(left) + fabs(middle) + fabs(right) + fabs(d));
            if (!(e <= error)) error = e;
        }
        if (!(error / size <= worst)) worst = error / size;
    }
    check_near(worst, 0, 32 * UNIT_F32, "%s, %zu ranks in a ring, %d rows, case %d: residual", w.name, w.ranks.size(),
               n, w.how);
}

/* Tests partitions of these lengths, about this many lines, in the k-th layout. */
template <class T>
static void test_case(const std::vector<int> &partitions, int k, int systems, int how, double stiff = 1.4)
{
    whole_case<T> w;
    w.how = how;
    w.stiff = stiff;
    w.rows = 0;
    const layout any = layouts(2, systems)[(size_t)k];
    w.name = any.name;
    w.lines = any.lines.systems * any.lines.groups;
    w.ranks.resize(partitions.size());
    for (size_t q = 0; q < partitions.size(); q++) {
        w.ranks[q].first = w.rows, w.ranks[q].n = partitions[q];
        w.rows += partitions[q];
    }
    const long long R = (long long)partitions.size();
    w.share = how & (GATHERED | NEIGHBOURS) ? w.lines + case_below(&dice, 2) : (w.lines + R - 1) / R;
    fill_whole(w);
    const int shift = case_below(&dice, 2) ? 0 : case_below(&dice, 4);
    for (rank_data<T> &r : w.ranks) make_rank(w, r, layouts(r.n, systems)[(size_t)k], shift);
    reduce_ranks(w);
    check_corners(w);
    if (how & NEIGHBOURS)
        exchange_with_neighbours(w);
    else
        exchange(w);
    expand_ranks(w);
    if (how & RING)
        check_ring(w);
    else
        check_whole(w);
    for (rank_data<T> &r : w.ranks) {
        T *const all[] = {r.a.device,     r.b.device,      r.c.device,      r.d.device,      r.u.device,
                          r.v.device,     r.ends_a.device, r.ends_c.device, r.ends_d.device, r.back.device,
                          r.all_a.device, r.all_c.device,  r.all_d.device};
        for (T *p : all) GPU_OK(cudaFree(p));
        if (!(how & IN_PLACE)) GPU_OK(cudaFree(r.x.device));
        GPU_OK(cudaFree(r.device_reach));
    }
}

/* Returns flags at random: in place or not, or adding to an array of its own. */
static int some(void)
{
    const int how = case_below(&dice, 4);
    return (how == 1 ? IN_PLACE : how == 2 ? ADD : 0) | (case_below(&dice, 2) ? GATHERED : 0);
}

static const std::vector<int> RANKS[] = {
    {37}, {2}, {2, 61}, {150, 3, 33}, {16, 17, 2, 33, 64}, {7, 2, 3, 32, 5, 2, 40, 9}};

template <class T>
static void test_ranks(void)
{
    const int count = (int)layouts(2, 2).size();
    for (const std::vector<int> &partitions : RANKS)
        for (int k = 0; k < count; k++) {
            if (check_short() && (k + (int)partitions.size()) % 3) continue;
            test_case<T>(partitions, k, 5 + case_below(&dice, 40), some());
            test_case<T>(partitions, k, 5 + case_below(&dice, 40), some() | SHARED);
            test_case<T>(partitions, k, 5, some() | FACTORED);
            test_case<T>(partitions, k, 5, some() | FACTORED | SHARED | (case_below(&dice, 2) ? ON_HOST : 0));
            if (sizeof(T) == 8) continue;
            test_case<T>(partitions, k, 5, some() | SHARED | MADE);
            test_case<T>(partitions, k, 5, (some() & ~ADD) | RING);
        }
}

/* Tests partitions of odd lengths whose two ends do not depend on each other. */
template <class T>
static void test_neighbours(void)
{
    const int count = (int)layouts(2, 2).size();
    for (int ranks : {1, 2, 3, 5})
        for (int k = 0; k < count; k++) {
            if (check_short() && (k + ranks) % 3) continue;
            std::vector<int> partitions;
            for (int q = 0; q < ranks; q++) partitions.push_back((sizeof(T) == 4 ? 45 : 81) + case_below(&dice, 30));
            for (int how : {0, (int)SHARED, SHARED | ON_HOST})
                test_case<T>(partitions, k, 4, how | FACTORED | NEIGHBOURS | (case_below(&dice, 2) ? IN_PLACE : 0),
                             1.6);
        }
}

/* Tests partitions that clusters, and that several launches, solve. */
template <class T>
static void test_long(void)
{
    for (int k : {0, 3, 12})
        for (int how : {0, (int)SHARED, SHARED | FACTORED}) test_case<T>({300, 1000, 2}, k, 3, how | some());
    if (sizeof(T) == 4)
        for (int k : {0, 1, 3})
            for (int how : {0, (int)SHARED}) test_case<T>({5000, 1030}, k, 2, how | some());
}

/* Checks that reach is the least number of rows beyond which no weight times its coupling exceeds the unit roundoff,
   and that weights are rows of inverses. */
template <class T>
static void test_weights(void)
{
    const double unit = sizeof(T) == 4 ? UNIT_F32 : UNIT_F64;
    for (int n : {2, 3, 20, 64, 150})
        for (double stiff : {1.0, 1.4, 40.0}) {
            std::vector<T> a((size_t)n), b((size_t)n), c((size_t)n), u((size_t)n), v((size_t)n);
            for (size_t j = 0; j < (size_t)n; j++) {
                a[j] = (T)-case_between(&dice, 0.5, 1), c[j] = (T)-case_between(&dice, 0.5, 1);
                b[j] = (T)(stiff * (-a[j] - c[j]) + 0.001);
            }
            T ends_a[2], ends_c[2];
            int reach[2];
            CHECK(trid_host_interface_factor(n, 0, a.data(), b.data(), c.data(), u.data(), v.data(), ends_a, ends_c,
                                             reach) == 0,
                  "factors of %d rows", n);
            for (int side = 0; side < 2; side++) { /* the transposed matrix times the weights is a unit vector */
                const std::vector<T> &w = side ? v : u;
                const int low = side, high = n - 2 + side, least = side ? n - 1 : 0;
                double worst = 0;
                for (int j = low; j <= high; j++) {
                    const size_t i = (size_t)j;
                    double sum = (double)b[i] * (double)w[i] - (j == least), size = fabs((double)b[i] * (double)w[i]);
                    if (j > low) sum += (double)c[i - 1] * (double)w[i - 1];
                    if (j < high) sum += (double)a[i + 1] * (double)w[i + 1];
                    if (size < 1e-30) continue; /* weights close to underflow have lost digits */
                    if (!(fabs(sum) <= worst * size)) worst = fabs(sum) / size;
                }
                check_near(worst, 0, 2.0 * n * unit, "%d rows, stiff %g: weights %d", n, stiff, side);
                int needed = 1;
                for (int j = low; j <= high; j++) {
                    const double coupling = fabs((double)(w[(size_t)j] * (side ? a : c)[(size_t)j]));
                    const int rows = side ? n + 1 - j : j + 2;
                    if (!(coupling <= unit) && rows > needed) needed = rows;
                }
                CHECK(reach[side] == needed, "%d rows, stiff %g: reach %d, want %d", n, stiff, reach[side], needed);
                CHECK((reach[side] < n) == (fabs((double)(side ? ends_a[1] : ends_c[0])) <= unit),
                      "%d rows, stiff %g: reach %d, couplings %g", n, stiff, reach[side],
                      (double)(side ? ends_a[1] : ends_c[0]));
            }
        }
}

/* Checks that exactly the rows asked for are weighed, whatever the weights. */
template <class T>
static void test_products(const trid_lines &lines)
{
    const int n = (int)lines.n;
    const long long m = lines.systems;
    field<T> u = make_field<T>(lines, 0), v = make_field<T>(lines, 1), d = make_field<T>(lines, 2);
    for (long long s = 0; s < m; s++)
        for (int j = 0; j < n; j++) {
            const long long at = offset(lines, 0, s, j);
            u[at] = (T)case_between(&dice, 1, 2), v[at] = (T)case_between(&dice, 1, 2),
            d[at] = (T)case_between(&dice, 1, 2);
        }
    upload(u), upload(v), upload(d);
    const int rows[][2] = {{0, 0}, {1, 0}, {0, 1}, {3, 2}, {17, n - 17}, {n, 0}, {n, n}};
    for (const int *count : rows) {
        field<T> ends = make_row<T>(2 * m);
        upload(ends);
        const int launched = weigh_ends(lines, 0, (const T *)u.at(), (const T *)v.at(), (const T *)d.at(), count[0],
                                        count[1], 4, ends.at());
        CHECK(launched == 0, "%s", trid_batch_status_string(launched));
        const std::vector<T> got = download(ends);
        double worst = 0;
        for (long long s = 0; s < m; s++) {
            double want[2] = {0, 0};
            const long long share = std::min(4ll, m - s / 4 * 4);
            for (int j = 0; j < n; j++) {
                const long long at = offset(lines, 0, s, j);
                if (j < count[0] || count[0] + count[1] > n) want[0] += (double)u[at] * (double)d[at];
                if (j >= n - count[1] || count[0] + count[1] > n) want[1] += (double)v[at] * (double)d[at];
            }
            for (int k = 0; k < 2; k++) {
                const double e = fabs((double)got[(size_t)(ends.origin + s / 4 * 4 + s + k * share)] - want[k]);
                if (!(e <= worst)) worst = e;
            }
        }
        check_near(worst, 0, 4.0 * n * n * (sizeof(T) == 4 ? UNIT_F32 : UNIT_F64), "%d and %d of %d rows", count[0],
                   count[1], n);
        GPU_OK(cudaFree(ends.device));
    }
    T *const all[] = {u.device, v.device, d.device};
    for (T *p : all) GPU_OK(cudaFree(p));
}

/* Checks that each bad row is reported, whether it is a part's first row, the partition's first or its last. */
template <class T>
static void test_reports(const trid_lines &lines)
{
    const int n = (int)lines.n, zero[9] = {-1, -1, 16, -1, 20, -1, 0, n - 1, 70};
    field<T> a = make_field<T>(lines, 0), b = make_field<T>(lines, 0), c = make_field<T>(lines, 0);
    field<T> d = make_field<T>(lines, 0), u = make_field<T>(lines, 0), v = make_field<T>(lines, 0);
    field<T> ea = make_row<T>(18), ec = make_row<T>(18), ed = make_row<T>(18);
    int *reach, *status, got[9];
    unsigned long long *failed, count[2];
    GPU_OK(filled((void **)&reach, 2 * sizeof(int)));
    GPU_OK(filled((void **)&status, 9 * sizeof(int)));
    GPU_OK(filled((void **)&failed, 2 * sizeof *failed));
    const told report = {status, 0, 0, failed};
    for (int s = 0; s < 9; s++)
        for (int j = 0; j < n; j++) {
            const long long at = offset(lines, 0, s, j);
            a[at] = c[at] = (T)(j == zero[s] ? 0 : 0.3), b[at] = (T)(j == zero[s] ? 0 : 1), d[at] = 1;
        }
    upload(a), upload(b), upload(c), upload(d);
    const T *pa = a.at(), *pb = b.at(), *pc = c.at(), *pd = d.at();
    for (int factored = 0; factored < 2; factored++) {
        int launched = factored ? factor_ends(lines, 0, pa, pb, pc, u.at(), v.at(), 9, ea.at(), ec.at(), reach, &report)
                                : reduce_ends(lines, 0, pa, pb, pc, pd, 9, ea.at(), ec.at(), ed.at(), &report);
        CHECK(launched == 0, "%s", trid_batch_status_string(launched));
        GPU_OK(cudaMemcpy(got, status, sizeof got, cudaMemcpyDeviceToHost));
        GPU_OK(cudaMemcpy(count, failed, sizeof count, cudaMemcpyDeviceToHost));
        for (int s = 0; s < 9; s++)
            CHECK(got[s] == zero[s] + 1, "%d: status %d of line %d, want %d", factored, got[s], s, zero[s] + 1);
        CHECK(count[0] == 5 && count[1] == 2, "failed %llu, first %llu", count[0], count[1]);
    }
    T *const all[] = {a.device, b.device, c.device, d.device, u.device, v.device, ea.device, ec.device, ed.device};
    for (T *p : all) GPU_OK(cudaFree(p));
    GPU_OK(cudaFree(reach));
    GPU_OK(cudaFree(status));
    GPU_OK(cudaFree(failed));
}

/* Checks the same with one matrix for all systems, each of which then fails. */
template <class T>
static void test_shared_reports(const trid_lines &lines)
{
    const int n = (int)lines.n;
    field<T> a = make_row<T>(n), b = make_row<T>(n), c = make_row<T>(n), d = make_field<T>(lines, 1);
    field<T> ea = make_row<T>(18), ec = make_row<T>(18), ed = make_row<T>(18);
    int *status, got[9];
    unsigned long long *failed, count[2];
    GPU_OK(filled((void **)&status, 9 * sizeof(int)));
    GPU_OK(filled((void **)&failed, 2 * sizeof *failed));
    const told report = {status, 0, 0, failed};
    for (int zero : {-1, 0, 15, 16, 17, 70, n - 1}) {
        for (int j = 0; j < n; j++) a[j] = c[j] = (T)(j == zero ? 0 : 0.3), b[j] = (T)(j == zero ? 0 : 1);
        upload(a), upload(b), upload(c), upload(d);
        int launched = reduce_ends(lines, TRID_BATCH_SHARED, (const T *)a.at(), (const T *)b.at(), (const T *)c.at(),
                                   (const T *)d.at(), 9, ea.at(), ec.at(), ed.at(), &report);
        CHECK(launched == 0, "%s", trid_batch_status_string(launched));
        GPU_OK(cudaMemcpy(got, status, sizeof got, cudaMemcpyDeviceToHost));
        GPU_OK(cudaMemcpy(count, failed, sizeof count, cudaMemcpyDeviceToHost));
        for (int s = 0; s < 9; s++) CHECK(got[s] == zero + 1, "status %d of line %d, want %d", got[s], s, zero + 1);
        CHECK(count[0] == (zero < 0 ? 0 : 9) && (zero < 0 || count[1] == 0), "failed %llu, first %llu", count[0],
              count[1]);
    }
    T *const all[] = {a.device, b.device, c.device, d.device, ea.device, ec.device, ed.device};
    for (T *p : all) GPU_OK(cudaFree(p));
    GPU_OK(cudaFree(status));
    GPU_OK(cudaFree(failed));
}

/* Checks calls that must be refused. */
template <class T>
static void test_statuses(void)
{
    const trid_lines lines = trid_lines_interleaved(40, 9);
    field<T> a = make_field<T>(lines, 0), b = make_field<T>(lines, 0), c = make_field<T>(lines, 0);
    field<T> d = make_field<T>(lines, 0), u = make_field<T>(lines, 0), v = make_field<T>(lines, 0);
    field<T> ea = make_row<T>(18), ec = make_row<T>(18), ed = make_row<T>(18);
    int *reach;
    GPU_OK(filled((void **)&reach, 2 * sizeof(int)));
    const told *none = 0;
    const T *pa = a.at(), *pb = b.at(), *pc = c.at(), *pd = d.at();
    const trid_lines one = trid_lines_interleaved(1, 9), empty = trid_lines_interleaved(40, 0);
    const trid_lines nothing = trid_lines_interleaved(0, 9);
    T *x = d.at(), *ends = ed.at();
    CHECK(reduce_ends(one, 0, pa, pb, pc, pd, 9, ea.at(), ec.at(), ends, none) == TRID_BATCH_SHORT, "one row");
    CHECK(reduce_ends(nothing, 0, pa, pb, pc, pd, 9, ea.at(), ec.at(), ends, none) == TRID_BATCH_SHORT, "no row");
    CHECK(reduce_ends({0, 1, 1ll << 32, 1, 1ll << 32, 1}, 0, pa, pb, pc, pd, 9, ea.at(), ec.at(), ends, none) ==
              TRID_BATCH_SHORT,
          "no row of 2^64 systems");
    CHECK(expand_ends(one, 0, pa, pb, pc, pd, 9, (const T *)ends, x, none) == TRID_BATCH_SHORT, "one row");
    CHECK(factor_ends(one, 0, pa, pb, pc, u.at(), v.at(), 9, ea.at(), ec.at(), reach, none) == TRID_BATCH_SHORT,
          "one row");
    CHECK(weigh_ends(one, 0, pa, pb, pd, 1, 1, 9, ends) == TRID_BATCH_SHORT, "one row");
    CHECK(reduce_ends(empty, 0, (T *)0, (T *)0, (T *)0, (T *)0, 9, (T *)0, (T *)0, (T *)0, none) == 0, "no lines");
    CHECK(expand_ends(empty, 0, (T *)0, (T *)0, (T *)0, (T *)0, 9, (T *)0, (T *)0, none) == 0, "no lines");
    unsigned long long *failed, count[2] = {1, 1};
    GPU_OK(filled((void **)&failed, sizeof count));
    const told report = {0, 0, 0, failed};
    CHECK(weigh_ends(empty, 0, (T *)0, (T *)0, (T *)0, 40, 40, 9, (T *)0, &report) == 0, "no lines");
    GPU_OK(cudaMemcpy(count, failed, sizeof count, cudaMemcpyDeviceToHost));
    CHECK(count[0] == 0 && count[1] == ~0ull, "no lines: failed %llu, first %llu", count[0], count[1]);
    GPU_OK(cudaFree(failed));
    CHECK(reduce_ends(lines, 0, pa, pb, pc, pd, 0, ea.at(), ec.at(), ends, none) == TRID_BATCH_BAD_SIZE, "share 0");
    CHECK(weigh_ends(lines, 0, pa, pb, pd, 41, 1, 9, ends) == TRID_BATCH_BAD_SIZE, "41 of 40 rows");
    CHECK(weigh_ends(lines, 0, pa, pb, pd, 1, -1, 9, ends) == TRID_BATCH_BAD_SIZE, "less than no row");
    CHECK(reduce_ends(lines, TRID_BATCH_ADD, pa, pb, pc, pd, 9, ea.at(), ec.at(), ends, none) == TRID_BATCH_BAD_FLAGS,
          "a flag");
    CHECK(expand_ends(lines, TRID_BATCH_FIRST, pa, pb, pc, pd, 9, (const T *)ends, x, none) == TRID_BATCH_BAD_FLAGS,
          "a flag");
    CHECK(reduce_ends(lines, 0, pa, pb, pc, pd, 9, ea.at(), (T *)0, ends, none) == TRID_BATCH_BAD_ARGUMENT, "null");
    CHECK(reduce_ends(lines, 0, pa, (T *)0, pc, pd, 9, ea.at(), ec.at(), ends, none) == TRID_BATCH_BAD_ARGUMENT,
          "null");
    CHECK(expand_ends(lines, 0, pa, pb, pc, pd, 9, (const T *)0, x, none) == TRID_BATCH_BAD_ARGUMENT, "null");
    CHECK(factor_ends(lines, 0, pa, pb, pc, u.at(), v.at(), 9, ea.at(), ec.at(), (int *)0, none) ==
              TRID_BATCH_BAD_ARGUMENT,
          "null");
    CHECK(reduce_ends(lines, 0, pa, pb, pc, pd, 9, ea.at(), ea.at() + 17, ends, none) == TRID_BATCH_OVERLAP, "ends");
    CHECK(reduce_ends(lines, 0, pa, pb, pc, pd, 9, ea.at(), ec.at(), x + 9, none) == TRID_BATCH_OVERLAP, "ends in d");
    CHECK(expand_ends(lines, 0, pa, pb, pc, pd, 9, pd + 30, x, none) == TRID_BATCH_OVERLAP, "ends in x");
    CHECK(factor_ends(lines, 0, pa, pb, pc, u.at(), u.at(), 9, ea.at(), ec.at(), reach, none) == TRID_BATCH_OVERLAP,
          "weights");
    T *const all[] = {a.device, b.device, c.device, d.device, u.device, v.device, ea.device, ec.device, ed.device};
    for (T *p : all) GPU_OK(cudaFree(p));
    GPU_OK(cudaFree(reach));
}

template <class T>
static void test_all(void)
{
    test_weights<T>();
    test_products<T>(trid_lines_interleaved(50, 9));
    test_products<T>(trid_lines_contiguous(50, 9));
    test_reports<T>(trid_lines_interleaved(130, 9));
    test_reports<T>(trid_lines_contiguous(130, 9));
    test_shared_reports<T>(trid_lines_interleaved(130, 9));
    test_shared_reports<T>(trid_lines_contiguous(130, 9));
    test_statuses<T>();
    test_ranks<T>();
    test_neighbours<T>();
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)dice.state);
    test_all<float>();
    test_all<double>();
    if (check_short())
        check_skip(1, "two of three layouts, and long partitions: SHORT_TESTS is set");
    else
        test_long<float>();
#ifdef SIMT_EMULATOR
    simt_capability(7, 5); /* no clusters and no pipeline, so that interleaved partitions are cut into chunks, too */
    for (int how : {0, (int)SHARED}) {
        test_case<float>({40, 2, 130}, 3, 9, how | some());
        if (!check_short()) test_case<float>({1030, 1500}, 3, 9, how | some());
    }
#endif
    return check_report();
}
