/* locvol_variants.cu - from a sequential program in C to kernels, one step at a time, as a compiler could do it.
   MIT licence, see LICENSE.

       locvol_variants [--csv FILE]

   The problem and the program are those of examples/locvol_plain.h. The program's loops become parallel in three steps:
       one_loop     the program itself, with a thread for each problem: all that is possible without changing the order
                    of loops
       naive        the loop over time is outermost; the loop over problems is inside it and distributed over the two
                    half steps; arrays hold all problems. A thread takes a line. In each half step a part of the
                    accesses does not coalesce
       coalesced    the same kernels, with neighbouring lines next to each other in every array; two transpositions of
                    the grid per step
   The last two are measured with the difference weights in several kinds of memory:
       global       two arrays of three weights a point, for first and second differences
       constant     both in constant memory, if all threads of a warp read the same point's weights
       merged       the same as one array of six weights a point
       texture      if threads read different points' weights, four elements at once through the texture path
       all          merged and texture
   The first differences have a factor of 0, which kernels learn at run time. Blocks have 64 threads. Times are for the
   payoff and all steps: medians of 5 runs, except for two versions that run once. `sequential` is the program on one
   core; up to 16 problems are timed and the time is scaled, since all are alike. one_loop is timed for the small set in
   a sixteenth of the steps, and scaled. over_naive and over_sequential are a version's speeds relative to naive with
   weights in global memory and to sequential. max_abs_error is the largest difference from the program in double
   precision; the benchmark fails if it is larger than 5e-6 (single) or 1e-11 (double precision). */
#define LOCVOL_FUNCTION static __host__ __device__
#include "../examples/locvol_plain.h"
#include "bench.h"

enum { THREADS = 64, TILE = 32, ROWS = 8, RUNS = 5, TIMED = 16, SHARE = 16, POINTS = 512 };
enum { CONSTANT = 1, MERGED = 2, TEXTURE = 4 };

static const struct {
    const char *name;
    int way;
} ways[] = {{"global", 0},
            {"constant", CONSTANT},
            {"merged", CONSTANT | MERGED},
            {"texture", TEXTURE},
            {"all", CONSTANT | MERGED | TEXTURE}};

/* For x, then for y: POINTS * 6 weights, as two arrays one after the other or as one. */
static __constant__ double weights_held[2 * 6 * POINTS];

/* An axis. `first` and `second` hold three weights a point of the first and of the second difference, for accesses to
   global memory. `both`, which the texture reads, holds four elements a point of the first, then of the second
   difference. `drift` is the factor of the first difference. */
template <typename T>
struct Axis {
    int points, held; /* held: where the axis begins in constant memory */
    T drift;
    T *first, *second, *both;
    cudaTextureObject_t texture;
};

/* The axes' points, and arrays of [outer][numx numy] elements. r and v are stored as (i, j), j fastest. In naive, the
   elements of a line are contiguous in w, c and pivot, so the half step along x leaves w as (j, i). In coalesced, equal
   elements of neighbouring lines are contiguous: that step leaves w as (i, j), and w_across and r_across hold the
   transposes of w and r. */
template <typename T>
struct Arrays {
    Axis<T> x, y;
    T *point_x, *log_x, *point_y;
    T *r, *r_across, *v, *w, *w_across, *c, *pivot;
    T nu, beta;
};

/* The weights of both differences at a point. */
template <typename T>
struct Weights {
    T first[3], second[3];
};

/* Returns the weights at point i, which is the same in all threads. */
template <int WAY, typename T>
__device__ static Weights<T> weights_same(const Axis<T> &axis, int i)
{
    Weights<T> w;
    const T *held = (const T *)weights_held + axis.held;
    for (int k = 0; k < 3; k++) {
        if (WAY & MERGED)
            w.first[k] = held[6 * i + 2 * k], w.second[k] = held[6 * i + 2 * k + 1];
        else if (WAY & CONSTANT)
            w.first[k] = held[3 * i + k], w.second[k] = held[3 * (POINTS + i) + k];
        else
            w.first[k] = axis.first[3 * i + k], w.second[k] = axis.second[3 * i + k];
    }
    return w;
}

__device__ static void fetch_four(cudaTextureObject_t texture, int i, float *u)
{
    float4 f = tex1Dfetch<float4>(texture, i);
    u[0] = f.x, u[1] = f.y, u[2] = f.z;
}
__device__ static void fetch_four(cudaTextureObject_t texture, int i, double *u)
{
    int4 f = tex1Dfetch<int4>(texture, 2 * i), g = tex1Dfetch<int4>(texture, 2 * i + 1);
    u[0] = __hiloint2double(f.y, f.x), u[1] = __hiloint2double(f.w, f.z), u[2] = __hiloint2double(g.y, g.x);
}

/* Returns the weights at point i, which may differ from thread to thread. */
template <int WAY, typename T>
__device__ static Weights<T> weights_own(const Axis<T> &axis, int i)
{
    Weights<T> w;
    if (WAY & TEXTURE) {
        fetch_four(axis.texture, i, w.first);
        fetch_four(axis.texture, axis.points + i, w.second);
    } else {
        for (int k = 0; k < 3; k++) w.first[k] = axis.first[3 * i + k], w.second[k] = axis.second[3 * i + k];
    }
    return w;
}

/* Computes the operator's three weights at a point. */
template <typename T>
__device__ static void combine(const Weights<T> &w, T drift, T half_variance, T *row)
{
    for (int k = 0; k < 3; k++) row[k] = drift * w.first[k] + half_variance * w.second[k];
}

/* Takes row i's step of the Thomas algorithm's forward elimination; d is its right-hand side. *before and *done are the
   pivot and the right-hand side that row i - 1 left, and receive those of row i. */
template <typename T>
__device__ static void eliminate(const T *row, T c_before, T d, T *before, T *done)
{
    T m = row[0] / *before;
    *before = row[1] - m * c_before;
    *done = d - m * *done;
}

template <typename T>
static __global__ void payoff(Arrays<T> s)
{
    int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), numx = s.x.points, numy = s.y.points;
    if (j >= numy) return;
    T strike = (T)(0.001 * blockIdx.y), *r = s.r + (size_t)blockIdx.y * numx * numy;
    for (int i = 0; i < numx; i++) r[i * numy + j] = s.point_x[i] > strike ? s.point_x[i] - strike : 0;
}

/* Takes the half step along x; a thread takes line j of problem blockIdx.y. Leaves q w' - v/2 in w. */
template <typename T, int ACROSS, int WAY>
static __global__ void half_step_x(Arrays<T> s, T q, T time)
{
    int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), numx = s.x.points, numy = s.y.points;
    if (j >= numy) return;
    size_t base = (size_t)blockIdx.y * numx * numy, line = base + (ACROSS ? j : j * numx), stride = ACROSS ? numy : 1;
    const T *__restrict__ r = s.r + base;
    T *__restrict__ v = s.v + base, *__restrict__ w = s.w + line, *__restrict__ c = s.c + line;
    T *__restrict__ pivot = s.pivot + line;
    const T half = (T)0.5;
    T before = 1, done = 0, c_before = 0;
    for (int i = 0; i < numx; i++) {
        T here = r[i * numy + j], row[3];
        Weights<T> own = weights_own<WAY>(s.y, j), same = weights_same<WAY>(s.x, i);
        combine(own, s.y.drift, half * s.nu * s.nu, row);
        T along_y = row[1] * here;
        if (j > 0) along_y += row[0] * r[i * numy + j - 1];
        if (j < numy - 1) along_y += row[2] * r[i * numy + j + 1];
        v[i * numy + j] = along_y;

        T variance = exp(2 * (s.beta * s.log_x[i] + s.point_y[j] - half * s.nu * s.nu * time));
        combine(same, s.x.drift, half * variance, row);
        T along_x = row[1] * here;
        if (i > 0) along_x += row[0] * r[(i - 1) * numy + j];
        if (i < numx - 1) along_x += row[2] * r[(i + 1) * numy + j];
        const T matrix[3] = {-half * row[0], q - half * row[1], -half * row[2]};
        eliminate(matrix, c_before, q * here + half * along_x + along_y, &before, &done);
        w[i * stride] = done;
        pivot[i * stride] = before;
        c[i * stride] = c_before = matrix[2];
    }
    for (int i = numx - 1; i >= 0; i--) {
        done = (w[i * stride] - c[i * stride] * done) / pivot[i * stride];
        w[i * stride] = q * done - half * v[i * numy + j];
    }
}

/* Takes the half step along y; a thread takes line i of problem blockIdx.y. Reads w as (j, i), which is w_across if
   ACROSS, and writes r as (i, j), or r_across as (j, i). */
template <typename T, int ACROSS, int WAY>
static __global__ void half_step_y(Arrays<T> s, T q)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), numx = s.x.points, numy = s.y.points;
    if (i >= numx) return;
    size_t base = (size_t)blockIdx.y * numx * numy, line = base + (ACROSS ? i : i * numy), stride = ACROSS ? numx : 1;
    const T *__restrict__ w = (ACROSS ? s.w_across : s.w) + base;
    T *__restrict__ r = (ACROSS ? s.r_across : s.r) + line, *__restrict__ c = s.c + line;
    T *__restrict__ pivot = s.pivot + line;
    const T half = (T)0.5;
    T before = 1, done = 0, c_before = 0;
    for (int j = 0; j < numy; j++) {
        T row[3];
        combine(weights_same<WAY>(s.y, j), s.y.drift, half * s.nu * s.nu, row);
        const T matrix[3] = {-half * row[0], q - half * row[1], -half * row[2]};
        eliminate(matrix, c_before, w[j * numx + i], &before, &done);
        r[j * stride] = done;
        pivot[j * stride] = before;
        c[j * stride] = c_before = matrix[2];
    }
    for (int j = numy - 1; j >= 0; j--)
        r[j * stride] = done = (r[j * stride] - c[j * stride] * done) / pivot[j * stride];
}

/* Transposes array `from` of problem blockIdx.z, `rows` rows of `columns` elements, with TILE x ROWS threads. */
template <typename T>
static __global__ void transpose(int rows, int columns, const T *from, T *to)
{
    __shared__ T tile[TILE][TILE + 1];
    int x = (int)(blockIdx.x * TILE + threadIdx.x), y = (int)(blockIdx.y * TILE + threadIdx.y);
    from += (size_t)blockIdx.z * rows * columns, to += (size_t)blockIdx.z * rows * columns;
    for (int k = 0; k < TILE; k += ROWS)
        if (x < columns && y + k < rows) tile[threadIdx.y + k][threadIdx.x] = from[(y + k) * columns + x];
    __syncthreads();
    x = (int)(blockIdx.y * TILE + threadIdx.x), y = (int)(blockIdx.x * TILE + threadIdx.y);
    for (int k = 0; k < TILE; k += ROWS)
        if (x < rows && y + k < columns) to[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}

/* Runs the plain program, one thread per problem; room: the elements of scratch of each problem. */
template <typename T>
static __global__ void one_loop(locvol_set set, Arrays<T> s, const T *time, int ix, int iy, size_t room, T *work,
                                T *result)
{
    int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (k >= set.outer) return;
    T strike = (T)(0.001 * k);
    if constexpr (sizeof(T) == 4)
        result[k] =
            locvol_value_f32(&set, strike, s.point_x, s.point_y, time, s.x.second, s.y.second, ix, iy, work + k * room);
    else
        result[k] =
            locvol_value_f64(&set, strike, s.point_x, s.point_y, time, s.x.second, s.y.second, ix, iy, work + k * room);
}

/* ---- on the host ------------------------------------------------------------------------------------------------- */

static int plain(const locvol_set *set, int threads, float *result)
{
    return locvol_plain_f32(set, threads, result);
}
static int plain(const locvol_set *set, int threads, double *result)
{
    return locvol_plain_f64(set, threads, result);
}

/* Returns the larger number; NaN counts as larger than any. */
static double worse(double x, double y)
{
    return x >= y || !(x >= 0) ? x : y;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

template <typename T>
static T *on_device(size_t count, const T *from)
{
    T *p;
    BENCH_OK(cudaMalloc(&p, count * sizeof(T)));
    if (from) BENCH_OK(cudaMemcpy(p, from, count * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

/* Copies the weights of an axis's differences to the device, in each of the kinds of memory. */
template <typename T>
static Axis<T> axis_of(int points, const double *x, int held, std::vector<T> &host)
{
    std::vector<T> w(6 * (size_t)points), both(8 * (size_t)points);
    for (int i = 1; i < points - 1; i++) {
        double l = x[i] - x[i - 1], u = x[i + 1] - x[i];
        const double first[3] = {-u / (l * (l + u)), (u - l) / (l * u), l / (u * (l + u))};
        const double second[3] = {2 / (l * (l + u)), -2 * (1 / l + 1 / u) / (l + u), 2 / (u * (l + u))};
        for (int k = 0; k < 3; k++) {
            w[3 * i + k] = both[4 * i + k] = (T)first[k];
            w[3 * (points + i) + k] = both[4 * (points + i) + k] = (T)second[k];
        }
    }
    Axis<T> axis = {points, held, 0, on_device<T>(w.size(), w.data()), NULL, on_device<T>(both.size(), both.data()), 0};
    axis.second = axis.first + 3 * points;
    cudaResourceDesc what;
    cudaTextureDesc how;
    memset(&what, 0, sizeof what), memset(&how, 0, sizeof how);
    what.resType = cudaResourceTypeLinear;
    what.res.linear.devPtr = axis.both;
    what.res.linear.desc =
        sizeof(T) == 4 ? cudaCreateChannelDesc<float4>() : cudaCreateChannelDesc<int4>(); /* at most 16 bytes */
    what.res.linear.sizeInBytes = both.size() * sizeof(T);
    how.readMode = cudaReadModeElementType;
    BENCH_OK(cudaCreateTextureObject(&axis.texture, &what, &how, NULL));
    host = w;
    return axis;
}

/* Copies an axis to constant memory. */
template <typename T>
static void hold(const Axis<T> &axis, const std::vector<T> &w, int merged)
{
    std::vector<T> held(6 * POINTS);
    for (int i = 0; i < axis.points; i++)
        for (int k = 0; k < 3; k++) {
            held[merged ? 6 * i + 2 * k : 3 * i + k] = w[3 * i + k];
            held[merged ? 6 * i + 2 * k + 1 : 3 * (POINTS + i) + k] = w[3 * (axis.points + i) + k];
        }
    BENCH_OK(cudaMemcpyToSymbol(weights_held, held.data(), held.size() * sizeof(T), axis.held * sizeof(T)));
}

static dim3 lines_of(int points, int outer)
{
    return dim3((unsigned)((points + THREADS - 1) / THREADS), (unsigned)outer);
}

template <typename T, int ACROSS, int WAY>
static void march(const locvol_set &set, const Arrays<T> &s, const double *time)
{
    payoff<T><<<lines_of(set.numy, set.outer), THREADS>>>(s);
    unsigned tiles_x = (unsigned)((set.numx + TILE - 1) / TILE), tiles_y = (unsigned)((set.numy + TILE - 1) / TILE);
    dim3 tile(TILE, ROWS), to_y(tiles_y, tiles_x, (unsigned)set.outer), to_x(tiles_x, tiles_y, (unsigned)set.outer);
    for (int g = set.numt - 2; g >= 0; g--) {
        T q = (T)(1 / (time[g + 1] - time[g]));
        half_step_x<T, ACROSS, WAY><<<lines_of(set.numy, set.outer), THREADS>>>(s, q, (T)time[g]);
        if (ACROSS) transpose<T><<<to_y, tile>>>(set.numx, set.numy, s.w, s.w_across);
        half_step_y<T, ACROSS, WAY><<<lines_of(set.numx, set.outer), THREADS>>>(s, q);
        if (ACROSS) transpose<T><<<to_x, tile>>>(set.numy, set.numx, s.r_across, s.r);
    }
}

template <typename T, int ACROSS>
static void march(int way, const locvol_set &set, const Arrays<T> &s, const double *time)
{
    switch (way) {
    case CONSTANT:
        return march<T, ACROSS, CONSTANT>(set, s, time);
    case CONSTANT | MERGED:
        return march<T, ACROSS, CONSTANT | MERGED>(set, s, time);
    case TEXTURE:
        return march<T, ACROSS, TEXTURE>(set, s, time);
    case CONSTANT | MERGED | TEXTURE:
        return march<T, ACROSS, CONSTANT | MERGED | TEXTURE>(set, s, time);
    default:
        return march<T, ACROSS, 0>(set, s, time);
    }
}

static int bad; /* rows whose error is too large */

/* A data set in one precision, and the times to which those of other versions are compared. */
struct Case {
    const Bench &bench;
    const locvol_set &set;
    const double *exact;            /* a value for each problem */
    std::vector<double> x, y, time; /* the grid */
    int ix, iy;                     /* the point of the result */
    double sequential, naive;       /* seconds; 0 until measured */
};

/* Prints a row. An error below 0 means that there is none. */
template <typename T>
static void row(const Case &c, const char *version, const char *weights, double s, double least, double error)
{
    const int is_double = sizeof(T) == 8;
    char text[3][32] = {"", "", ""};
    if (c.naive > 0) snprintf(text[0], sizeof text[0], "%.3g", c.naive / s);
    if (c.sequential > 0) snprintf(text[1], sizeof text[1], "%.3g", c.sequential / s);
    if (error >= 0) snprintf(text[2], sizeof text[2], "%.2e", error);
    bench_line(c.bench, "%s,%s,%s,%s,%d,%d,%d,%d,%.4g,%.4g,%s,%s,%s\n", version, weights, is_double ? "f64" : "f32",
               c.set.name, c.set.outer, c.set.numx, c.set.numy, c.set.numt, 1e3 * s, 1e3 * least, text[0], text[1],
               text[2]);
    if (error >= 0 && !(error <= (is_double ? 1e-11 : 5e-6))) bad++;
}

template <typename T>
static void run_sequential(Case &c)
{
    locvol_set some = c.set;
    some.outer = std::min(c.set.outer, (int)TIMED);
    std::vector<T> result(some.outer);
    const double from = seconds();
    if (plain(&some, 0, result.data())) fprintf(stderr, "locvol_variants: out of memory\n"), exit(1);
    const double s = (seconds() - from) * c.set.outer / some.outer;
    double error = 0;
    for (int k = 0; k < some.outer; k++) error = worse(error, fabs((double)result[k] - c.exact[k]));
    row<T>(c, "sequential", "", s, s, error);
    c.sequential = s;
}

template <typename T>
static void run_one_loop(const Case &c, const Arrays<T> &s)
{
    const size_t room = 4 * (size_t)c.set.numx * c.set.numy + 5 * (size_t)std::max(c.set.numx, c.set.numy);
    const std::vector<T> rounded(c.time.begin(), c.time.end());
    T *times = on_device(rounded.size(), rounded.data()), *work = on_device<T>(room * c.set.outer, NULL),
      *answer = on_device<T>(c.set.outer, NULL);
    locvol_set few = c.set;
    few.numt = 1 + (c.set.numt - 1) / SHARE;
    unsigned blocks = (unsigned)(c.set.outer + THREADS - 1) / THREADS;
    double t = bench_once([&] { one_loop<T><<<blocks, THREADS>>>(few, s, times, c.ix, c.iy, room, work, answer); });
    t *= (double)(c.set.numt - 1) / (few.numt - 1);
    row<T>(c, "one_loop", "global", t, t, -1);
    BENCH_OK(cudaFree(times));
    BENCH_OK(cudaFree(work));
    BENCH_OK(cudaFree(answer));
}

/* Runs naive or, if `across`, coalesced, with the weights in one of the ways. */
template <typename T>
static void run_march(Case &c, const Arrays<T> &s, int across, const char *weights, int way)
{
    const size_t points = (size_t)c.set.numx * c.set.numy, all = points * c.set.outer;
    const auto once = [&] {
        if (across)
            march<T, 1>(way, c.set, s, c.time.data());
        else
            march<T, 0>(way, c.set, s, c.time.data());
    };
    std::vector<T> grid(all);
    std::vector<double> runs;
    BENCH_OK(cudaMemset(s.r, 0, all * sizeof(T)));
    once();
    for (int k = 0; k < RUNS; k++) runs.push_back(bench_once(once));
    BENCH_OK(cudaMemcpy(grid.data(), s.r, all * sizeof(T), cudaMemcpyDeviceToHost));
    double error = 0;
    for (int k = 0; k < c.set.outer; k++)
        error = worse(error, fabs((double)grid[k * points + (size_t)c.ix * c.set.numy + c.iy] - c.exact[k]));
    const double t = bench_median(runs);
    if (c.naive == 0) c.naive = t; /* naive with weights in global memory is the first march */
    row<T>(c, across ? "coalesced" : "naive", weights, t, *std::min_element(runs.begin(), runs.end()), error);
}

/* Runs all versions in one precision. */
template <typename T>
static void run(const Bench &bench, const locvol_set &set, const double *exact)
{
    Case c = {bench, set, exact, {}, {}, {}, 0, 0, 0, 0};
    c.x.resize(set.numx), c.y.resize(set.numy), c.time.resize(set.numt);
    locvol_grid(&set, c.x.data(), c.y.data(), c.time.data(), &c.ix, &c.iy);
    run_sequential<T>(c);

    Arrays<T> s;
    std::vector<T> wx, wy, rounded(c.x.begin(), c.x.end());
    s.point_x = on_device(rounded.size(), rounded.data());
    for (T &point : rounded) point = log(point);
    s.log_x = on_device(rounded.size(), rounded.data());
    rounded.assign(c.y.begin(), c.y.end());
    s.point_y = on_device(rounded.size(), rounded.data());
    s.x = axis_of<T>(set.numx, c.x.data(), 0, wx);
    s.y = axis_of<T>(set.numy, c.y.data(), 6 * POINTS, wy);
    s.nu = (T)locvol_nu, s.beta = (T)locvol_beta;
    T **const array[] = {&s.r, &s.r_across, &s.v, &s.w, &s.w_across, &s.c, &s.pivot};
    for (T **p : array) *p = on_device<T>((size_t)set.numx * set.numy * set.outer, NULL);

    if (set.outer <= TIMED) run_one_loop(c, s);
    for (int across = 0; across < 2; across++)
        for (const auto &each : ways) {
            hold(s.x, wx, each.way & MERGED);
            hold(s.y, wy, each.way & MERGED);
            run_march(c, s, across, each.name, each.way);
        }
    for (T **p : array) BENCH_OK(cudaFree(*p));
    for (Axis<T> *axis : {&s.x, &s.y}) {
        BENCH_OK(cudaDestroyTextureObject(axis->texture));
        BENCH_OK(cudaFree(axis->first));
        BENCH_OK(cudaFree(axis->both));
    }
    BENCH_OK(cudaFree(s.point_x));
    BENCH_OK(cudaFree(s.log_x));
    BENCH_OK(cudaFree(s.point_y));
}

int main(int argc, char **argv)
{
    Bench bench = bench_open(argc, argv);
    bench_line(bench, "version,weights,precision,dataset,outer,numx,numy,numt,ms_median,ms_min,over_naive,"
                      "over_sequential,max_abs_error\n");
    for (const locvol_set &set : locvol_sets) {
        std::vector<double> exact(set.outer);
        if (plain(&set, 1, exact.data())) return fprintf(stderr, "locvol_variants: out of memory\n"), 1;
        run<float>(bench, set, exact.data());
        run<double>(bench, set, exact.data());
    }
    if (bench.csv && fclose(bench.csv)) return perror("csv"), 2;
    if (bad) fprintf(stderr, "locvol_variants: the errors of %d rows are too large\n", bad);
    return bad > 0;
}
