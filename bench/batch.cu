/* batch.cu - trid/batch.h and cuSPARSE on the same arrays.
   MIT licence, see LICENSE.

       batch [--csv FILE] [--quick] [--only TEXT] [--profile]

   An array has 2^27 elements (--quick: 2^24), so that the cache holds nothing useful from an earlier run. gbytes_per_s
   counts the bytes that an operation must read and write, each once: five arrays for a solve. pct_of_copy is that speed
   as a share of a device-to-device copy's in the same run. ratio_to_cusparse is the time of the best cuSPARSE routine
   for the layout over the time of this operation. A cuSPARSE routine that takes more than 0.1 s is timed by its first
   run alone.
   Every result is checked: the residual of every system on the device, as trid_batch_checked defines it, and the errors
   of a sample against pivoted elimination in double precision, each relative to the largest element of x in its system
   or piece. The sample is up to 48 systems or, if a system has more than 4096 rows, 48 pieces of 1024 rows. A piece is
   solved with 256 more rows on each side; beyond these, rows have no influence on it in these matrices. If a residual
   exceeds 128 unit roundoffs, which is trid/batch.h's own tolerance, or an error ten times that, the program says so,
   and fails if the result is the kit's.
   Layouts `columns` and `columns_W` are 10^3 to 10^6 columns of a model of the atmosphere or the ocean:
   t[level][column] and t[block][level][column], with W columns a block. A copy of 2^27 bytes before each run removes
   their arrays from the cache. pct_of_like_copy compares such a run with a copy that moves as many bytes and that also
   follows a copy of 2^27 bytes.
   --only runs the layouts whose names contain the text. With --profile it runs the layout of exactly this name, and
   launches most of its operations on 256 rows or more once, between cudaProfilerStart and cudaProfilerStop, and prints
   which they are (for bench/batch_bounds.sh). A program compiled with -DBATCH_TUNE=float or -DBATCH_TUNE=double times
   other shapes of the kernels instead. */
#ifdef BATCH_TUNE
#define TRID_P_BATCH_ALWAYS_PIPELINED(version) 0 /* no kernel is empty */
#endif
#include "../trid/batch.h"
#include "bench.h"
#include "sparse.h"

#include <cuda_profiler_api.h>
#include <functional>

static Bench bench;
static Bench_pace pace;
static double copy_speed;
static const char *only;
static bool profiled;
/* Seconds: a routine of cuSPARSE that takes longer than SLOW is timed by its first run alone; otherwise `runs` runs are
   timed, or fewer if these together take LONGEST. */
static const double SLOW = 0.1, LONGEST = 0.1;
static int runs = 9, failures;
static cusparseHandle_t handle;

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

__host__ __device__ static double entry(size_t i, unsigned k)
{
    unsigned long long z = (i * 8 + k + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (double)(z >> 11) * 0x1p-52 - 1;
}

template <typename T>
struct Arrays {
    T *a, *b, *c, *d, *x, *work[3]; /* work: copies for cuSPARSE, which overwrites what it reads; factors */
};

/* Fills matrices that, like their transposes, are diagonally dominant by a wide margin. Corner entries are 0, as
   cuSPARSE requires, except in periodic systems. Arrays have no gaps: element i belongs to row i / step % n. */
template <typename T>
__global__ void fill(size_t count, size_t n, size_t step, int periodic, Arrays<T> s)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        size_t row = i / step % n;
        s.a[i] = row == 0 && !periodic ? (T)0 : (T)entry(i, 0);
        s.c[i] = row == n - 1 && !periodic ? (T)0 : (T)entry(i, 1);
        s.b[i] = (T)(2.5 + entry(i, 2) / 4);
    }
}
template <typename T>
__global__ void fill_right_hand_sides(size_t count, T *d)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        d[i] = (T)entry(i, 3);
}

/* ---- what results are checked against ---------------------------------------------------------------------------- */

/* What a launch solves. */
struct Task {
    trid_lines lines;
    int shared, transposed, periodic;
    long long sides; /* right-hand sides, one after another */
};
static Task plain(const trid_lines &lines)
{
    return {lines, 0, 0, 0, 1};
}
static long long elements_of(const trid_lines &lines)
{
    return lines.n * lines.systems * lines.groups;
}

/* The rows of a task's systems. get() gives the one at element `at` of each array, row `row` of its system, with its
   right-hand side k. */
template <typename T>
struct Rows {
    Arrays<T> s;
    long long n, step, side;
    int shared, transposed, periodic;

    __device__ void get(long long at, long long row, long long k, double *m) const
    {
        long long i = shared ? row : at, by = shared ? 1 : step, up = row > 0 ? -by : (n - 1) * by;
        long long down = row < n - 1 ? by : -(n - 1) * by;
        m[0] = row == 0 && !periodic ? 0 : (double)(transposed ? s.c[i + up] : s.a[i]);
        m[1] = (double)s.b[i];
        m[2] = row == n - 1 && !periodic ? 0 : (double)(transposed ? s.a[i + down] : s.c[i]);
        m[3] = (double)s.d[k * side + at];
    }
};
template <typename T>
static Rows<T> rows_of(const Task &task, const Arrays<T> &s)
{
    return {s, task.lines.n, task.lines.step, elements_of(task.lines), task.shared, task.transposed, task.periodic};
}

/* Returns the bits of a positive number in single precision. As integers they have the order of the numbers, with NaN
   above all. */
__device__ static unsigned bits_of(double positive)
{
    return (unsigned)__float_as_int((float)positive) & 0x7fffffffu;
}
/* Finds, for every system, the largest |A x - d| of a row and the largest |A| |x| + |d|, as bits. The stored numbers
   are `scale` times x. They have no gaps, so an element's position tells its system. */
template <typename T>
__global__ void residuals(Rows<T> rows, size_t count, size_t sides, const T *x, double scale, uint2 *largest)
{
    size_t each = (count + 31) / 32 * 32; /* whole warps */
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < each; i += (size_t)gridDim.x * blockDim.x)
        for (size_t k = 0; k < sides; k++) {
            size_t own_row = i < count ? i : count - 1, systems = count / (size_t)rows.n;
            long long at = (long long)own_row, row = at / rows.step % rows.n, around = (rows.n - 1) * rows.step;
            const T *mid = x + k * count + own_row;
            double m[4];
            rows.get(at, row, (long long)k, m);
            double l = m[0] == 0 ? 0 : m[0] * ((double)mid[row > 0 ? -rows.step : around] / scale);
            double r = m[2] == 0 ? 0 : m[2] * ((double)mid[row < rows.n - 1 ? rows.step : -around] / scale);
            double own = m[1] * ((double)*mid / scale);
            unsigned system =
                (unsigned)(k * systems) + (unsigned)(at / (rows.step * rows.n) * rows.step + at % rows.step);
            unsigned error = bits_of(fabs(l + own + r - m[3]));
            unsigned size = bits_of(fabs(l) + fabs(own) + fabs(r) + fabs(m[3]));
            int one =
                __all_sync(0xffffffff, system == __shfl_sync(0xffffffff, system, 0)); /* all lanes in one system */
            for (int by = 16; one && by; by /= 2) {
                error = max(error, __shfl_xor_sync(0xffffffff, error, by));
                size = max(size, __shfl_xor_sync(0xffffffff, size, by));
            }
            if (one && threadIdx.x % 32) continue;
            atomicMax(&largest[system].x, error);
            atomicMax(&largest[system].y, size);
        }
}
__global__ void largest_residual(size_t systems, const uint2 *largest, unsigned *of_all)
{
    unsigned mine = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < systems; i += (size_t)gridDim.x * blockDim.x) {
        uint2 l = largest[i];
        if (l.x) mine = max(mine, bits_of((double)__int_as_float((int)l.x) / (double)__int_as_float((int)l.y)));
    }
    atomicMax(of_all, mine);
}

struct Place {
    long long at, row, side;
};
template <typename T>
__global__ void gather(Rows<T> rows, size_t count, const Place *places, const T *x, double *out)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= count) return;
    rows.get(places[i].at, places[i].row, places[i].side, out + 5 * i);
    out[5 * i + 4] = (double)x[places[i].side * rows.side + places[i].at];
}

/* Solves by pivoted elimination, as LAPACK's gtsv does. Each row has five numbers: a, b, c, d and one that is not
   used here. */
static std::vector<double> eliminate(size_t n, const double *m)
{
    std::vector<double> p(n), q(n), s(n), y(n), x(n);
    double r0 = m[1], r1 = n > 1 ? m[2] : 0, r2 = 0, rd = m[3];
    for (size_t j = 0; j + 1 < n; j++) {
        const double *next = m + 5 * (j + 1);
        double t0 = next[0], t1 = next[1], t2 = j + 2 < n ? next[2] : 0, td = next[3];
        if (fabs(t0) > fabs(r0)) std::swap(r0, t0), std::swap(r1, t1), std::swap(r2, t2), std::swap(rd, td);
        p[j] = r0, q[j] = r1, s[j] = r2, y[j] = rd;
        double f = t0 / r0;
        r0 = t1 - f * r1, r1 = t2 - f * r2, r2 = 0, rd = td - f * rd;
    }
    p[n - 1] = r0, y[n - 1] = rd;
    for (size_t j = n; j-- > 0;)
        x[j] = (y[j] - (j + 1 < n ? q[j] * x[j + 1] : 0) - (j + 2 < n ? s[j] * x[j + 2] : 0)) / p[j];
    return x;
}

/* Consecutive rows of a system, with more of its rows around them as a margin. */
struct Piece {
    size_t first, above, rows, all; /* its first place; rows of the margin above; rows without margins; with both */
};
struct Sample {
    std::vector<Place> places;
    std::vector<Piece> pieces;
};

/* Chooses the systems or pieces of systems that are solved again. A piece of a periodic system continues past both ends
   of the system. */
static Sample sample_of(const Task &task)
{
    enum { SAMPLES = 48, MARGIN = 256, WHOLE = 4096, PIECE = 1024 };
    const trid_lines &l = task.lines;
    long long systems = l.systems * l.groups, samples = SAMPLES, whole = l.n <= WHOLE;
    if (whole) samples = std::min(systems, samples);
    Sample sample;
    for (long long k = 0; k < samples; k++) {
        double at = samples > 1 ? (double)k / (double)(samples - 1) : 0;
        long long index = (long long)((double)(systems - 1) * at), rows = whole ? l.n : (long long)PIECE;
        double along = systems < SAMPLES ? at : (double)(k % 7) / 6; /* the first and the last rows, and between */
        long long from = (long long)((double)(l.n - rows) * along);
        long long above = task.periodic ? (long long)MARGIN : std::min(from, (long long)MARGIN);
        long long below = task.periodic ? (long long)MARGIN : std::min(l.n - from - rows, (long long)MARGIN);
        long long origin = index / l.systems * l.jump + index % l.systems * l.stride;
        sample.pieces.push_back({sample.places.size(), (size_t)above, (size_t)rows, (size_t)(above + rows + below)});
        for (long long j = from - above; j < from + rows + below; j++) {
            long long row = (j % l.n + l.n) % l.n;
            sample.places.push_back({origin + row * l.step, row, k % task.sides});
        }
    }
    return sample;
}

/* Returns the largest error of the gathered rows, five numbers each; NaN if an element of x is NaN. */
static double largest_error(const std::vector<Piece> &pieces, const std::vector<double> &gathered, double scale)
{
    double worst = 0;
    for (const Piece &piece : pieces) {
        std::vector<double> want = eliminate(piece.all, &gathered[5 * piece.first]);
        double error = 0, size = 0;
        for (size_t j = piece.above; j < piece.above + piece.rows; j++) {
            double e = fabs(gathered[5 * (piece.first + j) + 4] / scale - want[j]);
            size = std::max(size, fabs(want[j]));
            if (!(e <= error)) error = e;
        }
        if (!(error / size <= worst)) worst = error / size;
    }
    return worst;
}

/* Checks x, whose stored numbers are `scale` times the solution. Returns the largest error of the sample; NaN if one of
   its elements is NaN. */
template <typename T>
static double check(const char *operation, const Task &task, const Arrays<T> &s, const T *x, double scale = 1)
{
    const trid_lines &l = task.lines;
    const Sample sample = sample_of(task);
    const std::vector<Place> &places = sample.places;
    Place *device_places;
    double *device_out;
    float residual;
    unsigned *of_all;
    uint2 *largest = (uint2 *)s.work[2]; /* not in use now, and large enough: a system has at least two elements */
    size_t count = (size_t)elements_of(l);
    long long systems = l.systems * l.groups;
    size_t all_systems = (size_t)(systems * task.sides);
    std::vector<double> out(5 * places.size());
    BENCH_OK(cudaMalloc(&device_places, places.size() * sizeof(Place)));
    BENCH_OK(cudaMalloc(&device_out, out.size() * sizeof(double)));
    BENCH_OK(cudaMalloc(&of_all, sizeof *of_all));
    BENCH_OK(cudaMemcpy(device_places, places.data(), places.size() * sizeof(Place), cudaMemcpyHostToDevice));
    BENCH_OK(cudaMemset(of_all, 0, sizeof *of_all));
    BENCH_OK(cudaMemset(largest, 0, all_systems * sizeof *largest));
    Rows<T> rows = rows_of(task, s);
    residuals<<<1024, 256>>>(rows, count, (size_t)task.sides, x, scale, largest);
    largest_residual<<<256, 256>>>(all_systems, largest, of_all);
    gather<<<(unsigned)((places.size() + 255) / 256), 256>>>(rows, places.size(), device_places, x, device_out);
    BENCH_OK(cudaMemcpy(out.data(), device_out, out.size() * sizeof(double), cudaMemcpyDeviceToHost));
    BENCH_OK(cudaMemcpy(&residual, of_all, sizeof residual, cudaMemcpyDeviceToHost));
    BENCH_OK(cudaFree(device_places));
    BENCH_OK(cudaFree(device_out));
    BENCH_OK(cudaFree(of_all));
    double worst = largest_error(sample.pieces, out, scale);
    double most = 128 * (sizeof(T) == 4 ? 0x1p-24 : 0x1p-53);
    if (!(residual <= most && worst <= 10 * most)) {
        fprintf(stderr, "%s, %s, n = %lld, %lld systems: residual %.2e, error %.2e\n", operation,
                sizeof(T) == 4 ? "f32" : "f64", l.n, systems, residual, worst);
        failures += strncmp(operation, "cusparse", 8) != 0;
    }
    return worst;
}

/* ---- rows of the table ------------------------------------------------------------------------------------------- */

/* Prints a row. arrays: how many numbers must be moved for each row of a matrix. */
template <typename T>
static void report(const char *operation, const trid_lines &l, const char *layout, double seconds, double arrays,
                   double peer, double error, double like_copy = 0)
{
    double bytes = arrays * (double)elements_of(l) * sizeof(T), rate = bytes / seconds;
    char ratio[32] = "", like[32] = "";
    if (peer > 0) snprintf(ratio, sizeof ratio, "%.2f", peer / seconds);
    if (like_copy > 0) snprintf(like, sizeof like, "%.1f", 100 * like_copy / seconds);
    bench_line(bench, "%s,%lld,%lld,%s,%s,%.*f,%.0f,%.1f,%s,%.2e,%s\n", operation, l.n, l.systems * l.groups, layout,
               sizeof(T) == 4 ? "f32" : "f64", seconds < 1e-4 ? 6 : 4, 1e3 * seconds, 1e-9 * rate,
               100 * rate / copy_speed, ratio, error, like);
    if (pace.slow_chain > 0)
        bench_line(bench, "# the row before: machine slow: multiply-adds took %.2f and a copy %.2f of the usual\n",
                   pace.slow_chain, pace.slow_copy);
    pace.slow_chain = 0;
    fflush(stdout);
}

static void launched(int status)
{
    if (status == TRID_BATCH_OK) return;
    fprintf(stderr, "launch: %s\n", trid_batch_status_string(status));
    exit(1);
}

/* Device memory that is freed at the end of its scope; null if there is no room or bytes is 0. */
struct Memory {
    void *p;
    explicit Memory(size_t bytes) : p(NULL)
    {
        if (bytes && cudaMalloc(&p, bytes) != cudaSuccess) p = NULL, cudaGetLastError();
    }
    ~Memory()
    {
        if (p) cudaFree(p);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
};

#ifndef BATCH_TUNE
/* Returns the options of a call with these flags, and with scratch of the size that trid_batch_scratch returns. */
static trid_batch_options asked(const trid_lines &l, int flags, int bytes, const trid_batch_options *r, void *scratch)
{
    trid_batch_options options = r ? *r : trid_batch_options();
    options.flags = flags, options.scratch = scratch, options.scratch_bytes = trid_batch_scratch(l, flags, bytes);
    return options;
}

/* The launches under one name for both precisions; the matrix and d are those of s. */
#define KIT_LAUNCH(name, T, suffix)                                                                                    \
    static void name(const trid_lines &l, int flags, const Arrays<T> &s, T *x, const trid_batch_options *r,            \
                     void *scratch)                                                                                    \
    {                                                                                                                  \
        const trid_batch_options options = asked(l, flags, sizeof(T), r, scratch);                                     \
        launched(trid_batch_##name##_##suffix(l, s.a, s.b, s.c, s.d, x, &options, 0));                                 \
    }
#define KIT_TYPED(T, suffix)                                                                                           \
    KIT_LAUNCH(solve, T, suffix)                                                                                       \
    KIT_LAUNCH(shared, T, suffix)                                                                                      \
    KIT_LAUNCH(checked, T, suffix)                                                                                     \
    KIT_LAUNCH(refined, T, suffix)                                                                                     \
    KIT_LAUNCH(pivoted, T, suffix)
KIT_TYPED(float, f32)
KIT_TYPED(double, f64)

#define KIT_FACTORS_TYPED(T, suffix)                                                                                   \
    static void factor(const trid_lines &l, int flags, const Arrays<T> &s, T *r, T *u, void *scratch)                  \
    {                                                                                                                  \
        const trid_batch_options options = asked(l, flags, sizeof(T), NULL, scratch);                                  \
        launched(trid_batch_factor_##suffix(l, s.a, s.b, s.c, r, u, &options, 0));                                     \
    }                                                                                                                  \
    static void several(const trid_lines &l, long long sides, int flags, const Arrays<T> &s, const T *b, const T *c,   \
                        T *x, void *scratch)                                                                           \
    {                                                                                                                  \
        const trid_batch_options options = asked(l, flags, sizeof(T), NULL, scratch);                                  \
        launched(trid_batch_several_##suffix(l, sides, elements_of(l), s.a, b, c, s.d, x, &options, 0));               \
    }
KIT_FACTORS_TYPED(float, f32)
KIT_FACTORS_TYPED(double, f64)

static size_t scratch_bytes(const trid_lines &l, int flags, int bytes)
{
    long long most = trid_batch_scratch(l, flags, bytes);
    return launched(most < 0 ? (int)most : TRID_BATCH_OK), (size_t)most;
}
#endif

/* ---- cuSPARSE ---------------------------------------------------------------------------------------------------- */

template <typename T>
static void copy_to(T *to, const T *from, size_t count)
{
    BENCH_OK(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToDevice));
}

/* Measures one of cuSPARSE's routines, f, which `reset` prepares. Returns the seconds. */
template <typename T, typename Reset, typename Work>
static double peer(const char *operation, const trid_lines &l, const char *layout, const Arrays<T> &s, Reset reset,
                   Work f)
{
    reset();
    double t = bench_once(f);
    double error = check(operation, plain(l), s, s.x);
    if (t < SLOW) t = bench_seconds_after(pace, runs, LONGEST, reset, f);
    report<T>(operation, l, layout, t, 5, t, error);
    return t;
}

/* Measures cuSPARSE's routines for the layout. Returns the seconds of the fastest; 0 if there is none. */
template <typename T>
static double peers(const trid_lines &l, const char *layout, const Arrays<T> &s)
{
    size_t count = (size_t)elements_of(l);
    double best = 0;
    int n = (int)l.n, systems = (int)l.systems;
    auto better = [&](double t) { best = best == 0 || t < best ? t : best; };
    if (l.step == 1) {
        auto reset = [&] { copy_to(s.x, s.d, count); };
        Memory strided(sparse_strided_bytes(handle, n, s.a, s.b, s.c, s.x, systems));
        if (strided.p && systems > 1)
            better(peer("cusparse_gtsv2StridedBatch", l, layout, s, reset,
                        [&] { sparse_strided(handle, n, s.a, s.b, s.c, s.x, systems, strided.p); }));
        /* Long systems are few: the routines for one system are called for each in turn. */
        for (int pivot = 0; pivot < 2 && n > 16384; pivot++) {
            Memory single(sparse_single_bytes(handle, pivot, n, s.a, s.b, s.c, s.x));
            if (single.p)
                better(peer(pivot ? "cusparse_gtsv2" : "cusparse_gtsv2_nopivot", l, layout, s, reset, [&] {
                    for (size_t at = 0; at < count; at += (size_t)n)
                        sparse_single(handle, pivot, n, s.a + at, s.b + at, s.c + at, s.x + at, single.p);
                }));
        }
        return best;
    }
    /* Lines along y make one interleaved batch per plane. */
    T *from[4] = {s.a, s.b, s.c, s.d}, *to[4] = {s.work[0], s.work[1], s.work[2], s.x};
    for (int algo = 0; algo < 3; algo++) {
        Memory buffer(sparse_interleaved_bytes(handle, algo, n, to[0], to[1], to[2], s.x, systems));
        char name[64];
        snprintf(name, sizeof name, "cusparse_gtsvInterleavedBatch_%d", algo);
        if (buffer.p)
            better(peer(
                name, l, layout, s,
                [&] {
                    for (int k = 0; k < 4; k++) copy_to(to[k], from[k], count);
                },
                [&] {
                    for (long long g = 0; g < l.groups; g++)
                        sparse_interleaved(handle, algo, n, to[0] + g * l.jump, to[1] + g * l.jump, to[2] + g * l.jump,
                                           to[3] + g * l.jump, systems, buffer.p);
                }));
    }
    return best;
}

/* ---- the kit ----------------------------------------------------------------------------------------------------- */

static int wanted(const char *layout)
{
    return !only || (profiled ? !strcmp(layout, only) : strstr(layout, only) != NULL);
}

template <typename T>
static void prepare(const trid_lines &l, const Arrays<T> &s, long long sides = 1, int periodic = 0)
{
    size_t count = (size_t)elements_of(l);
    fill<<<1024, 256>>>(count, (size_t)l.n, (size_t)l.step, periodic, s);
    fill_right_hand_sides<<<1024, 256>>>((size_t)sides * count, s.d);
}

/* Launches an operation for the profiler. */
template <typename T>
static void profile(const char *name, const trid_lines &l, const char *layout, const std::function<void()> &f)
{
    BENCH_OK(cudaProfilerStart());
    f();
    BENCH_OK(cudaDeviceSynchronize());
    BENCH_OK(cudaProfilerStop());
    bench_line(bench, "%s,%lld,%lld,%s,%s\n", name, l.n, l.systems * l.groups, layout, sizeof(T) == 4 ? "f32" : "f64");
}

/* Measures an operation: checks its first run, on an x full of NaN, and then times it. */
template <typename T>
static void operation(const char *name, const Task &task, const char *layout, const Arrays<T> &s, double arrays,
                      double peer, const std::function<void()> &f)
{
    if (profiled) return profile<T>(name, task.lines, layout, f);
    BENCH_OK(cudaMemset(s.x, 0xff, (size_t)(task.sides * elements_of(task.lines)) * sizeof(T)));
    f();
    double error = check(name, task, s, s.x);
    report<T>(name, task.lines, layout, bench_seconds_after(pace, runs, LONGEST, nullptr, f), arrays, peer, error);
}

#ifndef BATCH_TUNE
/* Measures x += A^-1 d. */
template <typename T>
static void measure_add(const trid_lines &l, const char *layout, const Arrays<T> &s, void *scratch, double peer)
{
    auto add = [&] { solve(l, TRID_BATCH_ADD, s, s.x, 0, scratch); };
    BENCH_OK(cudaMemset(s.x, 0, (size_t)elements_of(l) * sizeof(T))); /* added twice to 0, x doubles: scale 2 */
    add();
    add();
    double error = check("solve_and_add", plain(l), s, s.x, 2);
    report<T>("solve_and_add", l, layout, bench_seconds_after(pace, runs, LONGEST, nullptr, add), 6, peer, error);
}

/* Measures the operations that all layouts have; pivot: also trid_batch_pivoted. Returns the time of cuSPARSE. */
template <typename T>
static double measure(const trid_lines &l, const char *layout, const Arrays<T> &s, int with_peers, int pivot)
{
    if (!wanted(layout) || (profiled && l.n < 256)) return 0;
    prepare(l, s);
    double peer = with_peers && !profiled ? peers(l, layout, s) : 0;
    Memory scratch(scratch_bytes(l, 0, sizeof(T)));
    operation("solve", plain(l), layout, s, 5, peer, [&] { solve(l, 0, s, s.x, 0, scratch.p); });
    if (!profiled) measure_add(l, layout, s, scratch.p, peer);
    if (pivot) operation("solve_pivoted", plain(l), layout, s, 5, peer, [&] { pivoted(l, 0, s, s.x, 0, scratch.p); });
    return peer;
}

/* Measures the other operations, on the arrays that measure() has filled. */
template <typename T>
static void measure_operations(const trid_lines &l, const char *layout, const Arrays<T> &s, double peer)
{
    if (!wanted(layout)) return;
    size_t count = (size_t)elements_of(l);
    Memory status((size_t)(l.systems * l.groups) * sizeof(int)), failed(2 * sizeof(unsigned long long)), scratch(0);
    trid_batch_options told = trid_batch_options();
    told.status = (int *)status.p, told.failed = (unsigned long long *)failed.p;
    Task one = plain(l), common = {l, 1, 0, 0, 1};
    operation("solve_with_status", one, layout, s, 5, peer, [&] { solve(l, 0, s, s.x, &told, scratch.p); });
    operation("solve_checked", one, layout, s, 5, peer, [&] { checked(l, 0, s, s.x, &told, scratch.p); });
    operation("solve_refined", one, layout, s, 5, peer, [&] { refined(l, 0, s, s.x, &told, scratch.p); });
    operation("solve_shared_matrix", common, layout, s, 2, 0, [&] { shared(l, 0, s, s.x, 0, scratch.p); });
    if (profiled) return;

    Arrays<T> in_place = s;
    in_place.d = s.x;
    auto solve_in_place = [&] { solve(l, 0, in_place, s.x, 0, scratch.p); };
    copy_to(s.x, s.d, count);
    solve_in_place();
    double error = check("solve_in_place", one, s, s.x);
    auto reset = [&] { copy_to(s.x, s.d, count); };
    double t = bench_seconds_after(pace, runs, LONGEST, reset, solve_in_place);
    report<T>("solve_in_place", l, layout, t, 5, peer, error);

    Task transposed = {l, 0, 1, 0, 1};
    operation("solve_transposed", transposed, layout, s, 5, 0,
              [&] { solve(l, TRID_BATCH_TRANSPOSED, s, s.x, 0, scratch.p); });
}

/* Measures several right-hand sides per matrix, from the matrices and from their factors. All sides of x together have
   as many elements as x has elsewhere. For each row of a matrix, 3 + 2 * sides numbers are moved. */
template <typename T>
static void measure_several(long long n, long long all, int interleaved, const Arrays<T> &s)
{
    const char *layout = interleaved ? "interleaved" : "contiguous";
    if (!wanted(layout)) return;
    for (int periodic = 0; periodic < 2; periodic++)
        for (long long sides : {1ll, 4ll, 16ll}) {
            if (periodic && sides > 1) continue;
            long long systems = all / n / sides;
            trid_lines l = interleaved ? trid_lines_interleaved(n, systems) : trid_lines_contiguous(n, systems);
            const int flags = periodic ? TRID_BATCH_PERIODIC : 0;
            const double arrays = 3 + 2 * (double)sides;
            prepare(l, s, sides, periodic);
            Memory scratch(scratch_bytes(l, flags, sizeof(T)));
            T *r = s.work[0], *u = s.work[1];
            Task task = {l, 0, 0, periodic, sides}, across = {l, 0, 1, periodic, sides};
            char name[3][64];
            snprintf(name[0], sizeof name[0], "several%s_%lld", periodic ? "_periodic" : "", sides);
            snprintf(name[1], sizeof name[1], "factored%s_%lld", periodic ? "_periodic" : "", sides);
            snprintf(name[2], sizeof name[2], "factored_transposed%s_%lld", periodic ? "_periodic" : "", sides);
            operation(name[0], task, layout, s, arrays, 0,
                      [&] { several(l, sides, flags, s, s.b, s.c, s.x, scratch.p); });
            auto make = [&] { factor(l, flags, s, r, u, scratch.p); };
            make();
            if (sides == 1 && profiled) {
                profile<T>(periodic ? "factor_periodic" : "factor", l, layout, make);
            } else if (sides == 1) { /* the solve below checks the factors */
                double t = bench_seconds_after(pace, runs, LONGEST, nullptr, make);
                several(l, 1, flags | TRID_BATCH_FACTORED, s, r, u, s.x, scratch.p);
                report<T>(periodic ? "factor_periodic" : "factor", l, layout, t, 5, 0, check("factor", task, s, s.x));
            }
            operation(name[1], task, layout, s, arrays, 0,
                      [&] { several(l, sides, flags | TRID_BATCH_FACTORED, s, r, u, s.x, scratch.p); });
            operation(name[2], across, layout, s, arrays, 0, [&] {
                several(l, sides, flags | TRID_BATCH_FACTORED | TRID_BATCH_TRANSPOSED, s, r, u, s.x, scratch.p);
            });
        }
}

/* Measures solves of columns, `width` of them a block, or all in one block if width is 0. */
template <typename T>
static void measure_columns(long long n, long long columns, long long width, const Arrays<T> &s)
{
    char layout[32] = "columns";
    if (width) snprintf(layout, sizeof layout, "columns_%lld", width);
    if (!wanted(layout) || profiled) return;
    trid_lines l = trid_lines_interleaved(n, columns);
    if (width) l = trid_lines_axis(width, n, columns / width, 1);
    const size_t bytes = (size_t)elements_of(l) * sizeof(T) * 5 / 2;
    prepare(l, s);
    BENCH_OK(cudaMemset(s.x, 0xff, (size_t)elements_of(l) * sizeof(T)));
    solve(l, 0, s, s.x, 0, 0);
    const double error = check("solve", plain(l), s, s.x);
    auto cold = [](const std::function<void()> &f) { return bench_seconds_after(pace, 15, LONGEST, [] {}, f); };
    Memory from(bytes), to(bytes);
    const double copy = cold([&] { BENCH_OK(cudaMemcpyAsync(to.p, from.p, bytes, cudaMemcpyDeviceToDevice)); });
    report<T>("solve", l, layout, cold([&] { solve(l, 0, s, s.x, 0, 0); }), 5, 0, error, copy);
}

template <typename T>
static __global__ void empty_kernel(T *)
{
}

/* Measures the launch of a small batch, by itself and in a row on a busy stream, beside that of an empty kernel with
   the same grid. */
template <typename T>
static void measure_launch(const trid_lines &l, const char *layout, unsigned blocks, const Arrays<T> &s)
{
    enum { TIMES = 200 };
    prepare(l, s);
    auto one = [&] { solve(l, 0, s, s.x, 0, 0); };
    auto empty = [&] { empty_kernel<T><<<blocks, 32 * TRID_P_BATCH_WARPS(T)>>>(s.x); };
    auto in_a_row = [](const std::function<void()> &f) {
        return [=] {
            for (int i = 0; i < TIMES; i++) f();
        };
    };
    BENCH_OK(cudaMemset(s.x, 0xff, (size_t)elements_of(l) * sizeof(T)));
    one();
    double error = check(layout, plain(l), s, s.x);
    report<T>("one", l, layout, bench_seconds_after(pace, 31, 1, nullptr, one), 5, 0, error);
    report<T>("one_empty_kernel", l, layout, bench_seconds_after(pace, 31, 1, nullptr, empty), 5, 0, 0);
    double t = bench_seconds_after(pace, runs, 1, nullptr, in_a_row(one)) / TIMES;
    report<T>("in_a_row", l, layout, t, 5, 0, error);
    t = bench_seconds_after(pace, runs, 1, nullptr, in_a_row(empty)) / TIMES;
    report<T>("in_a_row_empty_kernel", l, layout, t, 5, 0, 0);
}

template <typename T>
static void measure_launches(const Arrays<T> &s)
{
    enum { N = 128, SYSTEMS = 4 * TRID_P_BATCH_WARPS(T), INTERLEAVED = 8 }; /* the last two: systems of a block */
    for (long long systems : {1ll, 10ll, 100ll, 1000ll}) {
        if (wanted("launch"))
            measure_launch(trid_lines_contiguous(N, systems), "launch", (unsigned)((systems - 1) / SYSTEMS + 1), s);
        for (long long n : {128ll, 256ll, 512ll})
            if (wanted("launch_interleaved"))
                measure_launch(trid_lines_interleaved(n, systems), "launch_interleaved",
                               (unsigned)((systems - 1) / INTERLEAVED + 1), s);
    }
}
#endif

#ifdef BATCH_TUNE
/* Other shapes of the kernels for interleaved systems: K rows per thread, L systems and S partitions per block, R rows
   requested at a time, with AHEAD bytes around them prefetched into the second-level cache; C blocks of a cluster. */
template <typename T>
struct Tune {
    typedef trid_p_batch_bounds<TRID_BATCH_MAX_N, 1, 0> all_bounds;
    typedef trid_p_batch_how how;
    trid_lines lines;
    const Arrays<T> &s;
    long long sides;

    trid_p_batch_plan plan(int flags = 0) const
    {
        trid_p_batch_call<T> call = {lines, NULL, NULL, NULL, NULL, NULL, NULL, 0, flags};
        launched(trid_p_batch_begin(&call));
        return call.work.plan;
    }
    trid_p_batch_arrays<T> rows(int factored = 0) const
    {
        return {s.a, factored ? s.work[0] : s.b, factored ? s.work[1] : s.c, lines.step, lines.stride, lines.jump};
    }
    Tune(const trid_lines &l, const Arrays<T> &arrays, long long sides = 1) : lines(l), s(arrays), sides(sides)
    {
        prepare(l, arrays, sides);
    }
    void time(const char *name, double arrays, const std::function<void()> &f, int shared = 0) const
    {
        operation(name, {lines, shared, 0, 0, sides}, "interleaved", s, arrays, 0, f);
    }
    /* Launches a shape; returns whether there is room for it. */
    template <int METHOD, class SHAPE, class ROWS>
    bool launch(const trid_p_batch_plan &plan, int blocks, const ROWS &rows) const
    {
        const trid_p_batch_work<T> work = {plan, s.d, s.x, 0, 0};
        const int vectorised = trid_p_batch_is_vectorised(lines, rows, work.d);
        const int status = trid_p_batch_launch_shape<METHOD, SHAPE>(work, blocks, vectorised, rows);
        if (status == TRID_P_BATCH_NOT_LAUNCHED) return false;
        launched(status);
        return true;
    }
    template <int PIVOTED, int K, int L, int S, int R, int AHEAD>
    void tile(const char *what) const
    {
        char name[64];
        snprintf(name, sizeof name, "%s_K%d_L%d_S%d_R%d_A%d", what, K, L, S, R, AHEAD);
        time(name, 5, [&] {
            launch<PIVOTED ? how::pivoted : how::hybrid, trid_p_batch_shape<K, L, S, R, AHEAD, how::pipelined>>(
                plan(), 1, rows());
        });
    }
    template <int PIVOTED, int L, int S, int R, int AHEAD>
    void cluster(int parts) const
    {
        typedef trid_p_batch_shape<16, L, S, R, AHEAD, how::clusters> shape;
        constexpr int method = PIVOTED ? how::pivoted : how::hybrid;
        char name[64];
        auto f = [&] { return launch<method, shape>(plan(), parts, rows()); };
        snprintf(name, sizeof name, "tune%s_C%d_K16_L%d_S%d_R%d_A%d", PIVOTED ? "_pivoted" : "", parts, L, S, R, AHEAD);
        if (f()) time(name, 5, f);
    }
    template <int K, int L, int S, int AHEAD>
    void checked(int refined) const
    {
        char name[64];
        snprintf(name, sizeof name, "tune_%s_K%d_L%d_S%d_A%d", refined ? "refined" : "checked", K, L, S, AHEAD);
        trid_p_batch_plan own = plan(refined ? TRID_BATCH_REFINED : 0);
        own.report.status = (int *)s.work[1];
        own.report.tolerance = 1;
        time(name, 5,
             [&] { launch<how::checked, trid_p_batch_shape<K, L, S, K, AHEAD, how::pipelined>>(own, 1, rows()); });
    }
    template <int K, int L, int S, int AHEAD>
    void several(int factored) const
    {
        char name[64];
        snprintf(name, sizeof name, "tune_%s_%lld_K%d_L%d_S%d_A%d", factored ? "factored" : "several", sides, K, L, S,
                 AHEAD);
        const trid_p_batch_lu_rows<T, 0> both = {rows(factored), {sides, elements_of(lines), 0, 0, 0}};
        time(name, 3 + 2 * (double)sides, [&] {
            launch<how::several, trid_p_batch_shape<K, L, S, K, AHEAD, how::pipelined>>(
                plan(factored ? TRID_BATCH_FACTORED : 0), 1, both);
        });
    }
    void factor() const
    {
        const trid_p_batch_lu_rows<T, 1> both = {rows(), {0, 0, 0, 0, s.work[1]}};
        const trid_p_batch_work<T> work = {plan(), NULL, s.work[0], 0, 0};
        launched(trid_p_batch_launch_on_chip<how::factor, all_bounds>(work, both));
    }
    void contiguous(int factored) const
    {
        char name[64];
        snprintf(name, sizeof name, "tune_%s_%lld", factored ? "factored" : "several", sides);
        const trid_p_batch_lu_rows<T, 0> both = {rows(factored), {sides, elements_of(lines), 0, 0, 0}};
        auto f = [&] {
            const trid_p_batch_work<T> work = {plan(factored ? TRID_BATCH_FACTORED : 0), s.d, s.x, 0, 0};
            launched(trid_p_batch_launch_on_chip<how::several, all_bounds>(work, both));
        };
        operation(name, {lines, 0, 0, 0, sides}, "contiguous", s, 3 + 2 * (double)sides, 0, f);
    }
    template <int K, int L, int S, int AHEAD>
    void common() const
    {
        char name[64];
        snprintf(name, sizeof name, "tune_shared_K%d_L%d_S%d_A%d", K, L, S, AHEAD);
        trid_p_batch_one_matrix<T> one = {s.a, s.b, s.c, (int)lines.n};
        auto f = [&] { launch<how::shared, trid_p_batch_shape<K, L, S, K, AHEAD, how::pipelined>>(plan(), 1, one); };
        time(name, 2, f, 1);
    }
};

template <typename T>
static void tune_solve(const trid_lines &l, const Arrays<T> &s)
{
    const int F = sizeof(T) == 4 ? 2 : 1; /* 128 bytes hold one element of each of 16 F systems */
    Tune<T> tune(l, s);
    if (l.n == 32) {
        tune.template tile<0, 16, 32 * F, 2, 16, 0>("tune");
        tune.template tile<0, 8, 32 * F, 4, 4, 0>("tune");
        tune.template tile<1, 16, 64 * F, 2, 4, 0>("tune_pivoted");
        tune.template common<8, 32 * F, 4, 0>();
    } else if (l.n == 64) {
        tune.template tile<0, 16, 32 * F, 4, 16, 0>("tune");
        tune.template tile<0, 16, 32 * F, 4, 4, 128>("tune");
    } else if (l.n == 128) {
        tune.template tile<0, 16, 32 * F, 8, 16, 0>("tune");
        tune.template tile<0, 16, 32 * F, 8, 4, 128>("tune");
        tune.template common<16, 32 * F, 8, 128>();
        tune.template common<8, 32 * F, 16, 128>();
    } else if (l.n == 256) {
        tune.template tile<0, 16, 16 * F, 16, 16, 0>("tune");
        tune.template tile<0, 16, 16 * F, 16, 8, 256>("tune");
        tune.template tile<0, 16, 16 * F, 16, 4, 256>("tune");
        tune.template tile<0, 16, 16 * F, 16, 2, 256>("tune");
        tune.template cluster<0, 32 * F, 8, 2, 128>(2);
        tune.template tile<1, 16, 16 * F, 16, 4, 256>("tune_pivoted");
        tune.template tile<1, 16, 8 * F, 16, 4, 256>("tune_pivoted");
        tune.template tile<1, 8, 8 * F, 32, 4, 256>("tune_pivoted");
        for (int refined = 0; refined < 2; refined++) {
            tune.template checked<16, 16 * F, 16, 256>(refined);
            tune.template checked<16, 8 * F, 16, 256>(refined);
            tune.template checked<8, 8 * F, 32, 256>(refined);
        }
        tune.template common<16, 16 * F, 16, 256>();
        tune.template common<8, 16 * F, 32, 256>();
    } else if (l.n == 512) {
        tune.template tile<0, 16, 8 * F, 32, 16, 0>("tune");
        tune.template tile<0, 16, 8 * F, 32, 4, 128>("tune");
        tune.template cluster<0, 16 * F, 16, 4, 128>(2);
        tune.template cluster<0, 16 * F, 8, 2, 128>(4);
        tune.template cluster<0, 32 * F, 8, 2, 128>(4);
        tune.template common<16, 8 * F, 32, 128>();
        tune.template common<16, 16 * F, 32, 128>();
    } else if (l.n == 700) {
        tune.template cluster<0, 16 * F, 16, 4, 128>(3);
        tune.template cluster<0, 16 * F, 16, 4, 128>(4);
        tune.template cluster<0, 32 * F, 8, 2, 128>(6);
    } else if (l.n == 1024) {
        tune.template tile<0, 16, 4 * F, 64, 16, 0>("tune");
        tune.template tile<0, 16, 4 * F, 64, 4, 128>("tune");
        tune.template cluster<0, 16 * F, 16, 4, 128>(4);
        tune.template cluster<0, 16 * F, 8, 2, 128>(8);
        tune.template cluster<0, 32 * F, 8, 2, 128>(8);
        tune.template cluster<0, 8 * F, 32, 4, 128>(2);
        tune.template cluster<1, 16 * F, 16, 4, 128>(4);
        tune.template cluster<1, 32 * F, 8, 2, 128>(8);
    }
}
template <typename T>
static void tune_several(long long all, const Arrays<T> &s)
{
    const int F = sizeof(T) == 4 ? 2 : 1;
    for (long long sides : {1ll, 16ll}) {
        trid_lines l = trid_lines_interleaved(256, all / 256 / sides);
        Tune<T> tune(l, s, sides);
        for (int factored = 0; factored < 2; factored++) {
            if (factored) tune.factor();
            tune.template several<16, 16 * F, 16, 256>(factored);
            tune.template several<16, 8 * F, 16, 256>(factored);
            tune.template several<8, 8 * F, 32, 256>(factored);
        }
        Tune<T> beside(trid_lines_contiguous(256, all / 256 / sides), s, sides);
        for (int factored = 0; factored < 2; factored++) {
            if (factored) beside.factor();
            beside.contiguous(factored);
        }
    }
}
/* Replaces all other measurements in a program compiled with BATCH_TUNE. */
template <typename T>
static void measure_all(size_t elements)
{
    Arrays<T> s;
    T **arrays[] = {&s.a, &s.b, &s.c, &s.d, &s.x, &s.work[0], &s.work[1], &s.work[2]};
    for (T **p : arrays) BENCH_OK(cudaMalloc(p, elements * sizeof(T)));
    long long all = (long long)elements;
    for (long long n : {32ll, 64ll, 128ll, 256ll, 512ll, 700ll, 1024ll})
        tune_solve(trid_lines_interleaved(n, all / n / 32 * 32), s);
    tune_several(all, s);
    for (T **p : arrays) BENCH_OK(cudaFree(*p));
}
#else
template <typename T>
static void measure_all(size_t elements)
{
    Arrays<T> s;
    T **arrays[] = {&s.a, &s.b, &s.c, &s.d, &s.x, &s.work[0], &s.work[1], &s.work[2]};
    for (T **p : arrays) {
        BENCH_OK(cudaMalloc(p, elements * sizeof(T)));
        BENCH_OK(cudaMemset(*p, 0xff, elements * sizeof(T)));
    }
    long long all = (long long)elements;
    for (long long n : {32ll, 64ll, 128ll, 256ll, 512ll, 1024ll}) {
        trid_lines l = trid_lines_contiguous(n, all / n);
        double peer = measure(l, "contiguous", s, 1, 1);
        if (n == 256) measure_operations(l, "contiguous", s, peer);
    }
    for (long long n : {32ll, 64ll, 128ll, 256ll, 512ll, 1024ll}) {
        trid_lines l = trid_lines_interleaved(n, all / n);
        double peer = measure(l, "interleaved", s, 1, n == 256);
        if (n == 256) measure_operations(l, "interleaved", s, peer);
    }
    measure_several(256, all, 0, s);
    measure_several(256, all, 1, s);
    long long edge = 1;
    while (8 * edge * edge * edge <= all) edge *= 2;
    edge = std::min(edge, 256ll);
    measure(trid_lines_axis(edge, edge, all / edge / edge, 1), "y", s, 1, 0);
    measure(trid_lines_axis(all / edge / edge, edge, edge, 2), "z", s, 1, 0);
    for (unsigned k = 0; k < 40; k++) { /* any n from 3 to 1024, as many short ones as long ones */
        long long n = (long long)(3 * pow(1025 / 3.0, (k + 0.5 + 0.49 * entry(k, 7)) / 40));
        measure(trid_lines_contiguous(n, all / n), "contiguous_any", s, 0, 0);
    }
    for (long long n : {40ll, 60ll, 80ll, 91ll, 100ll, 120ll, 137ll})
        for (long long columns : {1000ll, 10000ll, 100000ll, std::min(1000000ll, all / n / 64 * 64)}) {
            const bool in_blocks = (n == 60 || n == 91 || n == 137) && (columns == 10000 || columns > 100000);
            measure_columns(n, columns, 0, s);
            for (long long width : {8ll, 16ll, 32ll, 64ll})
                if (in_blocks) measure_columns(n, columns / 64 * 64, width, s);
        }
    for (long long n : {2048ll, 4096ll}) {
        measure(trid_lines_contiguous(n, all / n), "long", s, 1, 1);
        measure(trid_lines_interleaved(n, all / n), "long_interleaved", s, 1, 1);
    }
    measure(trid_lines_contiguous(1 << 16, all >> 16), "long", s, 1, 1);
    measure(trid_lines_contiguous(1 << 20, all >> 20), "long", s, 1, 1);
    measure(trid_lines_contiguous(all / 2, 1), "long", s, 1, 1);
    measure_launches(s);
    for (T **p : arrays) BENCH_OK(cudaFree(*p));
}
#endif

int main(int argc, char **argv)
{
    size_t elements = (size_t)1 << 27;
    int rest = 1;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            elements = (size_t)1 << 24, runs = 5;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--profile"))
            profiled = true;
        else
            argv[rest++] = argv[i];
    }
    bench = bench_open(rest, argv);
    SPARSE_OK(cusparseCreate(&handle));
    copy_speed = bench_copy_speed(bench);
    pace = bench_pace_open();
    bench_line(bench, "operation,n,batch,layout,precision,ms,gbytes_per_s,pct_of_copy,ratio_to_cusparse,max_error,"
                      "pct_of_like_copy\n");
#ifdef BATCH_TUNE
    measure_all<BATCH_TUNE>(elements);
#else
    measure_all<float>(elements);
    measure_all<double>(elements);
#endif
    bench_pace_close(pace);
    bench_copy_speed(bench); /* the limit once more, at the end */
    SPARSE_OK(cusparseDestroy(handle));
    if (failures) fprintf(stderr, "%d results are wrong\n", failures);
    return failures ? 1 : 0;
}
