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
   The first differences have a factor of 0, which kernels learn at run time. Blocks have 64 threads. `sequential` is
   the program on one core; up to 16 problems are timed and the time is scaled, since all are alike. one_loop is timed
   for the small set in a sixteenth of the steps, and scaled. Times are medians of 5 runs, for payoff and all steps.
   over_naive and over_sequential are a version's speeds relative to naive and to sequential. Errors are relative to the
   program in double precision; the benchmark fails if one is larger than 5e-6 (single) or 1e-11 (double precision). */
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

/* An axis: for each point three weights of the first and three of the second difference, as they are read from global
   memory, and through a texture with four elements per point; `drift` is the factor of the first difference. */
template <typename T>
struct Axis {
    int points, held; /* held: where the axis begins in constant memory */
    T drift;
    T *first, *second, *both;
    cudaTextureObject_t texture; /* first, then second */
};

/* All arrays are [outer][numx numy]. r, v, and the lines along x with their results are stored as (i, j), j fastest, or
   as (j, i). */
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

/* Eliminates row i of a line by the Thomas algorithm, upwards; d is its right-hand side. *before and *done are the
   numbers that row i - 1 left, and receive those of row i. */
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

/* Takes the half step along y, from w to r; a thread takes line i of problem blockIdx.y. Both arrays are stored as
   (j, i), or as in half_step_x. */
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

static int bad;

/* Prints a row. An error below 0, and 0 for `naive` or `sequential`, mean that there is none. */
static void row(const Bench &bench, const char *version, const char *weights, int is_double, const locvol_set &set,
                double s, double least, double naive, double sequential, double error)
{
    char text[3][32] = {"", "", ""};
    if (naive > 0) snprintf(text[0], sizeof text[0], "%.3g", naive / s);
    if (sequential > 0) snprintf(text[1], sizeof text[1], "%.3g", sequential / s);
    if (error >= 0) snprintf(text[2], sizeof text[2], "%.2e", error);
    bench_line(bench, "%s,%s,%s,%s,%d,%d,%d,%d,%.4g,%.4g,%s,%s,%s\n", version, weights, is_double ? "f64" : "f32",
               set.name, set.outer, set.numx, set.numy, set.numt, 1e3 * s, 1e3 * least, text[0], text[1], text[2]);
    if (error >= 0 && !(error <= (is_double ? 1e-11 : 5e-6))) bad++;
}

template <typename T>
static void run(const Bench &bench, const locvol_set &set, const double *exact)
{
    const int is_double = sizeof(T) == 8, numx = set.numx, numy = set.numy;
    const size_t points = (size_t)numx * numy, all = points * set.outer;
    std::vector<double> x(numx), y(numy), time(set.numt);
    std::vector<T> wx, wy, result(set.outer), grid(all);
    int ix, iy;
    locvol_grid(&set, x.data(), y.data(), time.data(), &ix, &iy);

    locvol_set some = set;
    some.outer = std::min(set.outer, (int)TIMED);
    double from = seconds();
    if (plain(&some, 0, result.data())) exit(1);
    double sequential = (seconds() - from) * set.outer / some.outer;
    double error = 0;
    for (int k = 0; k < some.outer; k++) error = worse(error, fabs((double)result[k] - exact[k]));
    row(bench, "sequential", "", is_double, set, sequential, sequential, 0, 0, error);

    Arrays<T> s;
    std::vector<T> rounded(x.begin(), x.end());
    s.point_x = on_device(rounded.size(), rounded.data());
    for (T &point : rounded) point = log(point);
    s.log_x = on_device(rounded.size(), rounded.data());
    rounded.assign(y.begin(), y.end());
    s.point_y = on_device(rounded.size(), rounded.data());
    s.x = axis_of<T>(numx, x.data(), 0, wx);
    s.y = axis_of<T>(numy, y.data(), 6 * POINTS, wy);
    s.nu = (T)locvol_nu, s.beta = (T)locvol_beta;
    T **const array[] = {&s.r, &s.r_across, &s.v, &s.w, &s.w_across, &s.c, &s.pivot};
    for (T **p : array) *p = on_device<T>(all, NULL);

    if (set.outer <= TIMED) {
        size_t room = 4 * points + 5 * (size_t)std::max(numx, numy);
        rounded.assign(time.begin(), time.end());
        T *times = on_device(rounded.size(), rounded.data()), *work = on_device<T>(room * set.outer, NULL),
          *answer = on_device<T>(set.outer, NULL);
        locvol_set few = set;
        few.numt = 1 + (set.numt - 1) / SHARE;
        unsigned blocks = (unsigned)(set.outer + THREADS - 1) / THREADS;
        double t = bench_once([&] { one_loop<T><<<blocks, THREADS>>>(few, s, times, ix, iy, room, work, answer); });
        t *= (double)(set.numt - 1) / (few.numt - 1);
        row(bench, "one_loop", "global", is_double, set, t, t, 0, sequential, -1);
        BENCH_OK(cudaFree(times));
        BENCH_OK(cudaFree(work));
        BENCH_OK(cudaFree(answer));
    }
    double naive = 0;
    for (int across = 0; across < 2; across++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            hold(s.x, wx, ways[w].way & MERGED);
            hold(s.y, wy, ways[w].way & MERGED);
            double least = INFINITY;
            auto once = [&] {
                if (across)
                    march<T, 1>(ways[w].way, set, s, time.data());
                else
                    march<T, 0>(ways[w].way, set, s, time.data());
            };
            BENCH_OK(cudaMemset(s.r, 0, all * sizeof(T)));
            std::vector<double> runs;
            once();
            for (int k = 0; k < RUNS; k++) runs.push_back(bench_once(once)), least = std::min(least, runs.back());
            BENCH_OK(cudaMemcpy(grid.data(), s.r, all * sizeof(T), cudaMemcpyDeviceToHost));
            error = 0;
            for (int k = 0; k < set.outer; k++)
                error = worse(error, fabs((double)grid[k * points + (size_t)ix * numy + iy] - exact[k]));
            double t = bench_median(runs);
            if (!across && !w) naive = t;
            row(bench, across ? "coalesced" : "naive", ways[w].name, is_double, set, t, least, naive, sequential,
                error);
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
        if (plain(&set, 1, exact.data())) return 1;
        run<float>(bench, set, exact.data());
        run<double>(bench, set, exact.data());
    }
    if (bench.csv && fclose(bench.csv)) return perror("csv"), 2;
    if (bad) fprintf(stderr, "%d rows are off\n", bad);
    return bad > 0;
}
