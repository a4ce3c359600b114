/* transpose.cu - how fast each path of transpose.h loads and stores, against a device-to-device copy.
   MIT licence, see LICENSE.

       transpose [--csv FILE] [--once]

   A warp loads 32 lanes of K elements into blocked layout, adds one to each, and stores them: one array read, one
   written. vec_in loads by vectors and stores through shared memory, and vec_out does the opposite, which shows the
   cost of each. Arrays have 2 GiB; the copy is that of bench.h. Rows begin at multiples of 32*K elements; where shift
   is 1, one element later, so that they are not aligned to 16 bytes.
   With --once each kernel runs once on a small array, untimed, for a profiler (bench/conflicts.sh). */
#include "../transpose.h"
#include "bench.h"

enum { SHARED, VEC_IN, VEC_OUT, SHFL, VEC, STREAM, WARPS = 4 };
static bool once; /* run, do not time */
static const char *const path_names[] = {"shared", "vec_in", "vec_out", "shfl", "vec", "vec_stream"};

template <typename T, int K, int PATH>
__global__ void __launch_bounds__(32 * WARPS) move(size_t rows, const T *from, T *to)
{
    const int LEN = sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K);
    __shared__ T buffer[PATH <= VEC_OUT ? WARPS * LEN : 1];
    size_t row = blockIdx.x * (size_t)WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    T u[K], *mine = buffer + (PATH <= VEC_OUT ? (int)threadIdx.x / 32 * LEN : 0);
    from += row * (32 * K);
    to += row * (32 * K);
    if (PATH == SHARED || PATH == VEC_OUT) transpose_load(K, 32, 32 * K, from, (T)0, u, mine);
    if (PATH == SHFL) transpose_load_shfl(K, 32, 32 * K, from, (T)0, u);
    if (PATH == VEC_IN || PATH >= VEC) transpose_load_vec(K, 32, 32 * K, from, (T)0, u, PATH == STREAM);
    for (int j = 0; j < K; j++) u[j] += 1;
    if (PATH == SHARED || PATH == VEC_IN) transpose_store(K, 32, 32 * K, u, to, mine);
    if (PATH == SHFL) transpose_store_shfl(K, 32, 32 * K, u, to);
    if (PATH == VEC_OUT || PATH >= VEC) transpose_store_vec(K, 32, 32 * K, u, to, PATH == STREAM);
}

template <typename T, int K, int PATH>
static void measure(const Bench &bench, double copy, void *from, void *to, size_t bytes)
{
    if (PATH == SHFL && (K & (K - 1))) return;
    size_t rows = (bytes - 256) / (32 * K * sizeof(T)); /* 256: room for the shift */
    for (int shift = 0; shift < (once ? 1 : 2); shift++) {
        auto work = [&] {
            unsigned blocks = (unsigned)((rows + WARPS - 1) / WARPS);
            move<T, K, PATH><<<blocks, 32 * WARPS>>>(rows, (T *)from + shift, (T *)to + shift);
        };
        if (once) {
            work();
            BENCH_OK(cudaDeviceSynchronize());
            continue;
        }
        double s = bench_seconds(7, work), rate = 2.0 * (double)(rows * 32 * K * sizeof(T)) / s;
        bench_line(bench, "%s,%s,%d,%d,%.4f,%.0f,%.1f\n", path_names[PATH], sizeof(T) == 4 ? "f32" : "f64", K, shift,
                   1e3 * s, 1e-9 * rate, 100 * rate / copy);
    }
}

template <typename T, int K>
static void measure_paths(const Bench &bench, double copy, void *from, void *to, size_t bytes)
{
    measure<T, K, SHARED>(bench, copy, from, to, bytes);
    measure<T, K, VEC_IN>(bench, copy, from, to, bytes);
    measure<T, K, VEC_OUT>(bench, copy, from, to, bytes);
    measure<T, K, SHFL>(bench, copy, from, to, bytes);
    measure<T, K, VEC>(bench, copy, from, to, bytes);
    measure<T, K, STREAM>(bench, copy, from, to, bytes);
}

int main(int argc, char **argv)
{
    Bench bench = bench_open(argc, argv, "--once", &once);
    size_t bytes = (size_t)1 << (once ? 26 : 31);
    double copy = once ? 1 : bench_copy_speed(bench);
    void *from, *to;
    BENCH_OK(cudaMalloc(&from, bytes));
    BENCH_OK(cudaMalloc(&to, bytes));
    BENCH_OK(cudaMemset(from, 63, bytes));
    bench_line(bench, "path,precision,k,shift,ms_median,gbytes_per_s,pct_of_copy\n");
    measure_paths<float, 1>(bench, copy, from, to, bytes);
    measure_paths<float, 4>(bench, copy, from, to, bytes);
    measure_paths<float, 5>(bench, copy, from, to, bytes);
    measure_paths<float, 8>(bench, copy, from, to, bytes);
    measure_paths<float, 16>(bench, copy, from, to, bytes);
    measure_paths<float, 32>(bench, copy, from, to, bytes);
    measure_paths<double, 1>(bench, copy, from, to, bytes);
    measure_paths<double, 4>(bench, copy, from, to, bytes);
    measure_paths<double, 5>(bench, copy, from, to, bytes);
    measure_paths<double, 8>(bench, copy, from, to, bytes);
    measure_paths<double, 16>(bench, copy, from, to, bytes);
    BENCH_OK(cudaFree(from));
    BENCH_OK(cudaFree(to));
    if (bench.csv && fclose(bench.csv)) return perror("csv"), 2;
    return 0;
}
