/* test_lu.cu - trid/lu.h: LU by scans, the linear recurrences with which it solves, and solutions with the matrix and
   its transpose, in a warp, across warps and for interleaved systems, on a GPU or under tests/simt. MIT licence, see
   LICENSE.

   The factors must be those of a matrix close to A, row by row, and x must leave a small residual, both in unit
   roundoffs and computed in long double. a[0], c[n-1] and everything beyond a system's rows are NaN. */
extern "C" {
#include "trid.h"
#include "trid/lu.h"
}

#include "batch_cases.h"
#include "check.h"
#include "gpu.h"

#include <algorithm>
#include <float.h>
#include <string.h>

static case_random dice = {20251121};

static double unit_of(float)
{
    return FLT_EPSILON / 2;
}
static double unit_of(double)
{
    return DBL_EPSILON / 2;
}

/* Contiguous systems with room for `rows` rows each; system s has n[s] rows. */
template <class T>
struct view {
    int rows;
    const int *n;
    T *a, *b, *c, *d, *x, *y; /* a, b, c become l, r, u; x solves A, y its transpose */
    int *status;              /* of each thread */
};

/* The system of a thread, and the first of its rows. */
template <class T>
static __device__ void load(int K, const view<T> &v, int system, int first, T *a, T *b, T *c, T *d, T *e)
{
    for (int j = 0; j < K; j++) {
        size_t at = (size_t)system * (size_t)v.rows + (size_t)(first + j);
        a[j] = v.a[at], b[j] = v.b[at], c[j] = v.c[at], d[j] = v.d[at], e[j] = v.y[at];
    }
}
template <class T>
static __device__ void store(int K, const view<T> &v, int system, int first, const T *a, const T *b, const T *c,
                             const T *d, const T *e)
{
    for (int j = 0; j < K; j++) {
        size_t at = (size_t)system * (size_t)v.rows + (size_t)(first + j);
        v.a[at] = a[j], v.b[at] = b[j], v.c[at] = c[j], v.x[at] = d[j], v.y[at] = e[j];
    }
}

template <class T, int K, int W>
GPU_KERNEL void in_warp(view<T> v)
{
    int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x), system = thread / W, first = K * (thread % W);
    T a[K], b[K], c[K], d[K], e[K];
    load(K, v, system, first, a, b, c, d, e);
    int n = v.n[system];
    v.status[thread] = trid_warp_lu(K, W, n, a, b, c);
    trid_warp_lu_solve(K, W, 0, n, a, b, c, d);
    trid_warp_lu_solve(K, W, 1, n, a, b, c, e);
    store(K, v, system, first, a, b, c, d, e);
}

/* Solves by precomputed factors, for two right-hand sides at once. The second is a multiple of the first, and so must
   its solution be. */
template <class T, int K, int W>
GPU_KERNEL void in_warp_kept(view<T> v)
{
    int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x), system = thread / W, first = K * (thread % W);
    T a[K], b[K], c[K], d[2 * K], e[K], keep[TRID_WARP_LU_PRECOMPUTED_LEN];
    load(K, v, system, first, a, b, c, d, e);
    int n = v.n[system], steps = 77;
    v.status[thread] = trid_warp_lu(K, W, n, a, b, c);
    if (trid_warp_lu_precompute(K, W, a, c, keep, &steps)) {
        trid_warp_lu_solve(K, W, 0, n, a, b, c, d);
    } else {
        for (int j = 0; j < K; j++) d[j] = first + j < n ? d[j] : 0, d[K + j] = -2 * d[j];
        trid_warp_lu_solve_precomputed(K, W, 2, steps, a, b, c, keep, 1, d);
        for (int j = 0; j < K; j++)
            if (d[K + j] != -2 * d[j] || steps < 0 || 1 << steps > W) d[j] = (T)NAN;
    }
    trid_warp_lu_solve(K, W, 1, n, a, b, c, e);
    store(K, v, system, first, a, b, c, d, e);
}

template <class T, int K>
GPU_KERNEL void in_block(view<T> v)
{
    __shared__ T shared[TRID_BLOCK_LU_LEN];
    int system = (int)blockIdx.x, first = K * (int)threadIdx.x, n = v.n[system];
    T a[K], b[K], c[K], d[K], e[K];
    load(K, v, system, first, a, b, c, d, e);
    v.status[blockIdx.x * blockDim.x + threadIdx.x] = trid_block_lu(K, n, a, b, c, shared);
    __syncthreads();
    trid_block_lu_solve(K, 0, n, a, b, c, d, shared);
    __syncthreads();
    trid_block_lu_solve(K, 1, n, a, b, c, e, shared);
    store(K, v, system, first, a, b, c, d, e);
}

template <class T, int K, int L, int S>
GPU_KERNEL void in_lines(view<T> v)
{
    enum { LEN = sizeof(T) == 4 ? TRID_BLOCK_INTERLEAVED_LU_LEN_F32(L, S) : TRID_BLOCK_INTERLEAVED_LU_LEN_F64(L, S) };
    __shared__ T shared[LEN];
    int system = (int)blockIdx.x * L + (int)threadIdx.x % L, first = K * ((int)threadIdx.x / L), n = v.n[system];
    T a[K], b[K], c[K], d[K], e[K];
    load(K, v, system, first, a, b, c, d, e);
    v.status[blockIdx.x * blockDim.x + threadIdx.x] = trid_block_interleaved_lu(K, L, S, n, a, b, c, shared);
    __syncthreads();
    trid_block_interleaved_lu_solve(K, L, S, 0, n, a, b, c, d, shared);
    trid_block_interleaved_lu_solve(K, L, S, 1, n, a, b, c, e, shared);
    store(K, v, system, first, a, b, c, d, e);
}

/* Solves linear recurrences alone: x[j] + a[j] x[j-1] = d[j] into x, and y[j] + a[j] y[j+1] = d[j] into y. */
template <class T, int K, int W>
GPU_KERNEL void in_chains(view<T> v)
{
    int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x), system = thread / W, first = K * (thread % W);
    T a[K], b[K], c[K], d[K], e[K];
    load(K, v, system, first, a, b, c, d, e);
    trid_warp_recurrence_solve(K, W, 0, v.n[system], a, d);
    trid_warp_recurrence_solve(K, W, 1, v.n[system], c, e);
    v.status[thread] = 0;
    store(K, v, system, first, a, b, c, d, e);
}

/* How a kernel is launched: systems a block, threads a block, rows a thread, partitions a system. */
template <class T>
struct way {
    const char *name;
    int systems, threads, rows, sections;
    void (*kernel)(view<T>);
    int side; /* lines: systems side by side in a block, thread t has system t % side */
};

template <class T>
struct memory {
    T *device;
    explicit memory(const std::vector<T> &from) : device()
    {
        GPU_OK(cudaMalloc((void **)&device, from.size() * sizeof(T)));
        GPU_OK(cudaMemcpy(device, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    void get(std::vector<T> &to) const
    {
        GPU_OK(cudaMemcpy(to.data(), device, to.size() * sizeof(T), cudaMemcpyDeviceToHost));
    }
    ~memory() { cudaFree(device); }
    memory(const memory &) = delete;
    memory &operator=(const memory &) = delete;
};

template <class T>
struct problem {
    int rows;
    std::vector<int> n, status;
    std::vector<T> a, b, c, d, e, x, y, l, r, u;
    problem(int rows_, int systems) : rows(rows_), n((size_t)systems)
    {
        for (std::vector<T> *v : {&a, &b, &c, &d, &e, &x, &y, &l, &r, &u})
            v->assign((size_t)rows * (size_t)systems, (T)NAN);
    }
    size_t at(int system, int row) const { return (size_t)system * (size_t)rows + (size_t)row; }
};

template <class T>
static void run(problem<T> &p, const way<T> &w)
{
    unsigned blocks = (unsigned)(p.n.size() / (size_t)w.systems);
    p.status.assign(blocks * (size_t)w.threads, 77);
    memory<int> n(p.n), status(p.status);
    memory<T> a(p.a), b(p.b), c(p.c), d(p.d), x(p.x), y(p.e);
    view<T> v = {p.rows, n.device, a.device, b.device, c.device, d.device, x.device, y.device, status.device};
    GPU_LAUNCH(w.kernel, dim3(blocks), dim3((unsigned)w.threads), 0, 0)(v);
    GPU_OK(cudaDeviceSynchronize());
    a.get(p.l), b.get(p.r), c.get(p.u), x.get(p.x), y.get(p.y), status.get(p.status);
}

/* Returns the least positive status of the threads that hold the system. */
template <class T>
static int status_of(const problem<T> &p, const way<T> &w, int system)
{
    int least = 0, block = system / w.systems;
    for (int t = 0; t < w.threads; t++) {
        int own = w.side ? t % w.side : t / (w.threads / w.systems);
        int s = p.status[(size_t)(block * w.threads + t)];
        if (block * w.systems + own == system && s && (least == 0 || s < least)) least = s;
    }
    return least;
}

/* ---- matrices --------------------------------------------------------------------------------------------------- */

enum kind { SAFE, BARELY, LAPLACE, VARYING, SCALED, UPWIND, MIXED, WEAK, TRANSPOSE_ONLY, KINDS };
static const char *const kind_names[] = {"dominant",         "barely dominant",   "second difference",
                                         "strongly varying", "rows of any scale", "upwind",
                                         "mixed signs",      "not dominant",      "dominant by columns"};

/* Makes a row of this kind. */
template <class T>
static void make_row(int kind, int j, int n, double *a, double *b, double *c)
{
    double left = case_between(&dice, -1, 1), right = case_between(&dice, -1, 1), more = case_between(&dice, 0.25, 2);
    double sign = case_below(&dice, 2) ? 1 : -1, scale = 1;
    if (kind == BARELY) left = -fabs(left) - 0.01, right = -fabs(right) - 0.01, more = 2e-6, sign = 1;
    if (kind == LAPLACE) left = right = -1, more = j == 0 || j == n - 1 ? 1 : 0, sign = 1;
    if (kind == MIXED) more = 1e-5;
    if (kind == VARYING) {
        left *= pow(10, case_between(&dice, -6, 6)), right *= pow(10, case_between(&dice, -6, 6));
        more = 0.01;
    }
    if (kind == SCALED)
        scale = pow(2, case_below(&dice, 2 * (sizeof(T) == 4 ? 100 : 900)) - (sizeof(T) == 4 ? 100 : 900));
    if (kind == UPWIND) left = -1, right = -1e-3, more = j < n - 1 ? 0 : 1e-2, sign = 1;
    if (kind == WEAK) more = -0.4;
    if (j == 0) left = 0;
    if (j == n - 1) right = 0;
    if (kind == LAPLACE && n == 1) more = 2;
    double size = (fabs(left) + fabs(right)) * (1 + more) + (kind == WEAK || kind == SAFE || n == 1 ? 0.3 : 0);
    if (kind == LAPLACE && n > 1) size = 2;
    if (kind == UPWIND && j == 0) size = n > 1 ? 1e-3 * (1 + 1e-4) : 1;
    *a = left * scale, *b = sign * size * scale, *c = right * scale;
}

template <class T>
static void make(problem<T> &p, int system, int kind, int n)
{
    p.n[(size_t)system] = n;
    if (kind == TRANSPOSE_ONLY) {
        std::vector<double> a((size_t)n + 1), b((size_t)n + 1), c((size_t)n + 1);
        for (int j = 0; j < n; j++) make_row<T>(SAFE, j, n, &a[(size_t)j], &b[(size_t)j], &c[(size_t)j]);
        for (int j = 0; j < n; j++) {
            p.a[p.at(system, j)] = j > 0 ? (T)c[(size_t)j - 1] : (T)NAN;
            p.b[p.at(system, j)] = (T)b[(size_t)j];
            p.c[p.at(system, j)] = j < n - 1 ? (T)a[(size_t)j + 1] : (T)NAN;
        }
    } else {
        for (int j = 0; j < n; j++) {
            double a, b, c;
            make_row<T>(kind, j, n, &a, &b, &c);
            p.a[p.at(system, j)] = j > 0 ? (T)a : (T)NAN;
            p.b[p.at(system, j)] = (T)b;
            p.c[p.at(system, j)] = j < n - 1 ? (T)c : (T)NAN;
        }
    }
    for (int j = 0; j < n; j++) {
        p.d[p.at(system, j)] = (T)case_between(&dice, 0.5, 1) * p.b[p.at(system, j)];
        p.e[p.at(system, j)] = (T)case_between(&dice, -1, 1) * p.b[p.at(system, j)];
    }
}

/* Errors in unit roundoffs: the largest error of a row of the factors' product, relative to the row; and the residuals
   of x and y, max |A x - d| / (|A| |x| + |d|), where the denominator is the largest of all rows, each in its
   own scale. */
struct errors {
    double factors, solution, transposed;
};
template <class T>
static double residual(const problem<T> &p, int system, int transposed)
{
    int n = p.n[(size_t)system];
    double worst = 0;
    std::vector<long double> rest((size_t)n), size((size_t)n);
    long double most = 0;
    for (int j = 0; j < n; j++) {
        long double scale = transposed ? 1 : fabsl((long double)p.b[p.at(system, j)]);
        const std::vector<T> &x = transposed ? p.y : p.x, &d = transposed ? p.e : p.d;
        long double above = j > 0 ? (transposed ? p.c[p.at(system, j - 1)] : p.a[p.at(system, j)]) : 0;
        long double below = j < n - 1 ? (transposed ? p.a[p.at(system, j + 1)] : p.c[p.at(system, j)]) : 0;
        long double t0 = j > 0 ? above * x[p.at(system, j - 1)] : 0,
                    t1 = (long double)p.b[p.at(system, j)] * x[p.at(system, j)];
        long double t2 = j < n - 1 ? below * x[p.at(system, j + 1)] : 0, t3 = d[p.at(system, j)];
        rest[(size_t)j] = fabsl(t0 + t1 + t2 - t3) / scale;
        size[(size_t)j] = (fabsl(t0) + fabsl(t1) + fabsl(t2) + fabsl(t3)) / scale;
        most = std::max(most, size[(size_t)j]);
    }
    for (int j = 0; j < n; j++) {
        double e = (double)(rest[(size_t)j] / most);
        if (!(e <= worst)) worst = e;
    }
    return worst / unit_of(T());
}
template <class T>
static errors errors_of(const problem<T> &p, int system)
{
    errors e = {0, residual(p, system, 0), residual(p, system, 1)};
    int n = p.n[(size_t)system];
    for (int j = 0; j < n; j++) {
        size_t at = p.at(system, j);
        long double r = p.r[at], u = j > 0 ? p.u[at - 1] : 0, a = j > 0 ? p.a[at] : 0, c = j < n - 1 ? p.c[at] : 0;
        long double b = 1 / r + a * u, row = fabsl(a) + fabsl((long double)p.b[at]) + fabsl(c);
        double off = (double)(fabsl(b - p.b[at]) / row);
        off = std::max(off, (double)(fabsl(p.l[at] - a * r) / (fabsl(a * r) + LDBL_MIN)));
        off = std::max(off, (double)(fabsl(p.u[at] - c * r) / (fabsl(c * r) + LDBL_MIN)));
        if (j == 0 && p.l[at] != 0) off = 1;
        if (!(off / unit_of(T()) <= e.factors)) e.factors = off / unit_of(T());
    }
    for (int j = n; j < p.rows; j++) {
        size_t at = p.at(system, j);
        if (p.x[at] != 0 || p.y[at] != 0 || p.l[at] != 0 || p.r[at] != 1 || p.u[at] != 0) e.factors = INFINITY;
    }
    return e;
}

static const char *type_of(float)
{
    return "f32";
}
static const char *type_of(double)
{
    return "f64";
}

static double worst_of[KINDS][3]; /* what was seen, for docs/lu.md */

/* Checks bounds in unit roundoffs. A row's pivot takes three roundings. Where partitions meet, the errors that a
   partition's own recurrence gathers over K rows come in, with random signs; in dominant rows they decay. */
template <class T>
static void test_way(const way<T> &w)
{
    for (int kind = 0; kind < KINDS; kind++) {
        problem<T> p(w.rows, 2 * w.systems);
        int K = w.rows / w.sections;
        for (int s = 0; s < 2 * w.systems; s++) {
            int sizes[] = {w.rows, w.rows - 1, 1, 2, 3, K, K + 1, w.rows - K, 0, 1 + case_below(&dice, w.rows)};
            int n = s == 0 ? w.rows : sizes[case_below(&dice, 10)];
            make(p, s, kind, std::max(0, std::min(n, w.rows)));
        }
        run(p, w);
        for (int s = 0; s < 2 * w.systems; s++) {
            errors e = errors_of(p, s);
            double bound = kind == WEAK ? 1e3 : 12; /* without dominance errors may grow */
            CHECK(status_of(p, w, s) == 0, "%s %s, %s, n %d: status %d", w.name, type_of(T()), kind_names[kind],
                  p.n[(size_t)s], status_of(p, w, s));
            check_near(e.factors, 0, kind == WEAK ? 1e3 : 8, "%s %s, %s, n %d: factors", w.name, type_of(T()),
                       kind_names[kind], p.n[(size_t)s]);
            check_near(e.solution, 0, bound, "%s %s, %s, n %d: solution", w.name, type_of(T()), kind_names[kind],
                       p.n[(size_t)s]);
            if (kind != SCALED) /* whose transposed systems have unknowns of any scale */
                check_near(e.transposed, 0, bound, "%s %s, %s, n %d: transposed", w.name, type_of(T()),
                           kind_names[kind], p.n[(size_t)s]);
            worst_of[kind][0] = std::max(worst_of[kind][0], e.factors);
            worst_of[kind][1] = std::max(worst_of[kind][1], e.solution);
            if (kind != SCALED) worst_of[kind][2] = std::max(worst_of[kind][2], e.transposed);
        }
    }
}

/* Checks that a pivot that is zero or NaN is reported with its row, and affects only its own system. */
template <class T>
static void test_bad(const way<T> &w)
{
    for (int how = 0; how < 4; how++) {
        problem<T> p(w.rows, 2 * w.systems);
        std::vector<int> row(p.n.size());
        for (int s = 0; s < 2 * w.systems; s++) {
            int n = s % 3 == 0 ? w.rows : 1 + case_below(&dice, w.rows);
            make(p, s, how == 3 ? WEAK : SAFE, n);
            int bad = s % 2 ? -1 : case_below(&dice, n);
            row[(size_t)s] = bad;
            if (bad < 0) continue;
            size_t at = p.at(s, bad);
            if (how == 1) {
                p.b[at] = (T)NAN;
            } else if (how == 2) {
                p.b[at] = (T)INFINITY;
            } else { /* the row above subtracts nothing */
                p.b[at] = 0;
                if (bad > 0) p.a[at] = 0;
            }
        }
        run(p, w);
        for (int s = 0; s < 2 * w.systems; s++) {
            int status = status_of(p, w, s);
            CHECK(status == row[(size_t)s] + 1, "%s %s, how %d, n %d: status %d, want %d", w.name, type_of(T()), how,
                  p.n[(size_t)s], status, row[(size_t)s] + 1);
            if (row[(size_t)s] >= 0) continue;
            errors e = errors_of(p, s);
            double bound = how == 3 ? 1e3 : 24;
            CHECK(e.factors <= bound && e.solution <= bound && e.transposed <= bound,
                  "%s %s, how %d, n %d: %g %g %g beside a bad one", w.name, type_of(T()), how, p.n[(size_t)s],
                  e.factors, e.solution, e.transposed);
        }
    }
}

/* Checks that too many rows are a bad argument. */
template <class T>
static void test_too_many(const way<T> &w)
{
    problem<T> p(w.rows, w.systems);
    for (int s = 0; s < w.systems; s++) make(p, s, SAFE, w.rows), p.n[(size_t)s] = w.rows + 1;
    run(p, w);
    for (int t : p.status) CHECK(t == TRID_BAD_ARGUMENT, "%s: status %d", w.name, t);
}

/* Compares linear recurrences that decay, keep their size and grow with a loop over rows in long double. */
template <class T>
static void test_chains(const way<T> &w)
{
    for (int kind = 0; kind < 4; kind++) {
        problem<T> p(w.rows, 2 * w.systems);
        for (int s = 0; s < 2 * w.systems; s++) {
            int n = s == 0 ? w.rows : case_below(&dice, w.rows + 1);
            p.n[(size_t)s] = n;
            for (int j = 0; j < n; j++) {
                size_t at = p.at(s, j);
                double m = kind == 0   ? case_between(&dice, -1, 1)
                           : kind == 1 ? -1
                           : kind == 2 ? case_between(&dice, 1, 1.25)
                                       : case_between(&dice, -2, 2) * (case_below(&dice, 8) ? 1 : 0);
                p.a[at] = j > 0 ? (T)m : (T)NAN;
                p.c[at] = j < n - 1 ? (T)m : (T)NAN;
                p.d[at] = (T)case_between(&dice, 0.5, 1), p.e[at] = (T)case_between(&dice, -1, 1);
            }
        }
        run(p, w);
        for (int s = 0; s < 2 * w.systems; s++)
            for (int up = 0; up < 2; up++) {
                int n = p.n[(size_t)s];
                double worst = 0;
                long double around = 0; /* the size of x, here and a little earlier in the recurrence */
                for (int i = 0; i < n; i++) {
                    int j = up ? n - 1 - i : i;
                    size_t at = p.at(s, j);
                    long double from = i > 0 ? (up ? p.y[at + 1] : p.x[at - 1]) : 0, m = up ? p.c[at] : p.a[at];
                    long double d = up ? p.e[at] : p.d[at], x = up ? p.y[at] : p.x[at];
                    around = std::max(around, fabsl(x) + fabsl(d));
                    double e = (double)(fabsl(x + (i > 0 ? m * from : 0) - d) / around);
                    if (!(e <= worst)) worst = e;
                }
                for (int j = n; j < p.rows; j++)
                    if ((up ? p.y : p.x)[p.at(s, j)] != 0) worst = INFINITY;
                check_near(worst / unit_of(T()), 0, 48, "%s %s, chain %d, up %d, n %d", w.name, type_of(T()), kind, up,
                           n);
            }
    }
}

template <class T>
static void test_all()
{
    const way<T> ways[] = {
        {"K 1, W 32", 1, 32, 32, 32, in_warp<T, 1, 32>, 0},
        {"K 2, W 2", 16, 32, 4, 2, in_warp<T, 2, 2>, 0},
        {"K 3, W 8", 4, 32, 24, 8, in_warp<T, 3, 8>, 0},
        {"K 4, W 16", 4, 64, 64, 16, in_warp<T, 4, 16>, 0},
        {"K 8, W 32", 1, 32, 256, 32, in_warp<T, 8, 32>, 0},
        {"K 16, W 4", 8, 32, 64, 4, in_warp<T, 16, 4>, 0},
        {"K 16, W 32", 2, 64, 512, 32, in_warp<T, 16, 32>, 0},
        {"K 1, W 32, kept", 1, 32, 32, 32, in_warp_kept<T, 1, 32>, 0},
        {"K 3, W 8, kept", 4, 32, 24, 8, in_warp_kept<T, 3, 8>, 0},
        {"K 8, W 32, kept", 2, 64, 256, 32, in_warp_kept<T, 8, 32>, 0},
        {"K 5, 1 warp", 1, 32, 160, 32, in_block<T, 5>, 0},
        {"K 4, 3 warps", 1, 96, 384, 96, in_block<T, 4>, 0},
        {"K 16, 2 warps", 1, 64, 1024, 64, in_block<T, 16>, 0},
        {"K 1, 8 warps", 1, 256, 256, 256, in_block<T, 1>, 0},
        {"K 4, 32 of 1", 32, 32, 4, 1, in_lines<T, 4, 32, 1>, 32},
        {"K 3, 16 of 4", 16, 64, 12, 4, in_lines<T, 3, 16, 4>, 16},
        {"K 8, 4 of 32", 4, 128, 256, 32, in_lines<T, 8, 4, 32>, 4},
        {"K 16, 4 of 64", 4, 256, 1024, 64, in_lines<T, 16, 4, 64>, 4},
    };
    for (const way<T> &w : ways) {
        test_way(w);
        test_bad(w);
        test_too_many(w);
    }
    const way<T> chains[] = {
        {"K 1, W 32", 1, 32, 32, 32, in_chains<T, 1, 32>, 0},
        {"K 4, W 8", 4, 32, 32, 8, in_chains<T, 4, 8>, 0},
        {"K 16, W 32", 1, 32, 512, 32, in_chains<T, 16, 32>, 0},
    };
    for (const way<T> &w : chains) test_chains(w);
    printf("%s: unit roundoffs, the largest seen of factors, solution, transposed solution\n", type_of(T()));
    for (int kind = 0; kind < KINDS; kind++) {
        printf("    %-22s %6.1f %6.1f %6.1f\n", kind_names[kind], worst_of[kind][0], worst_of[kind][1],
               worst_of[kind][2]);
        worst_of[kind][0] = worst_of[kind][1] = worst_of[kind][2] = 0;
    }
}

int main(void)
{
    test_all<float>();
    test_all<double>();
    return check_report();
}
