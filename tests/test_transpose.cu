/* test_transpose.cu - every load, store and increment of transpose.h, on a GPU or under tests/simt.
   MIT licence, see LICENSE.

   Each warp of a launch runs one case: its groups have rows of different lengths that begin at different places, mostly
   not at a multiple of 16 bytes. It loads two rows, stores a third and increments a fourth, one directly after another,
   through one shared array of exactly TRANSPOSE_LEN elements. All numbers differ and are small integers or halves of
   them, so that each wrong index shows and all sums are exact. */
#include "transpose.h"

#include "check.h"
#include "gpu.h"

#include <vector>

/* PARTS is SHARED called as its two halves; the second row that it loads stays in the striped layout. */
enum path { SHARED, PARTS, SHUFFLE, VECTOR, VECTOR_STREAM };
static const char *const path_name[] = {"shared", "parts", "shfl", "vec", "vec stream"};

/* Warps a block: two, if the static shared memory of a block holds both arrays. */
#define WARPS(K) ((K) > 64 ? 1 : 2)

template <class T> struct task { /* what a group of lanes does */
    const T *load[2];
    T *store, *increment;
    int n;
};

template <class T> __host__ __device__ static T fill_value(int which)
{
    return (T)(-5 - which);
}

/* Returns the number that a lane stores or adds as its element j in case `number`. */
template <class T> __host__ __device__ static T stored_value(int K, int number, int lane, int j)
{
    return (T)0.5 + (T)((number * 32 + lane) * K + j);
}
template <class T> __host__ __device__ static T added_value(int K, int number, int lane, int j)
{
    return (T)(3 * ((number * 32 + lane) * K + j) + 1);
}

template <class T, int K, int W, int PATH> GPU_KERNEL void run(int cases, const task<T> *tasks, T *loaded)
{
    __shared__ T buffer[WARPS(K)][PATH > PARTS ? 1 : sizeof(T) == 4 ? TRANSPOSE_LEN_F32(K) : TRANSPOSE_LEN_F64(K)];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, number = (int)blockIdx.x * WARPS(K) + warp;
    if (number >= cases) return;
    task<T> my = tasks[number * (32 / W) + lane / W];
    T u[K], v[K];
    T *shared = buffer[warp];

    if (PATH == SHARED) {
        transpose_load(K, W, my.n, my.load[0], fill_value<T>(0), u, shared);
        transpose_load(K, W, my.n, my.load[1], fill_value<T>(1), v, shared);
    } else if (PATH == PARTS) {
        transpose_load_striped(K, W, my.n, my.load[0], fill_value<T>(0), u);
        transpose_load_striped(K, W, my.n, my.load[1], fill_value<T>(1), v);
        transpose_to_blocked(K, u, shared);
    } else if (PATH == SHUFFLE) {
        transpose_load_shfl(K, W, my.n, my.load[0], fill_value<T>(0), u);
        transpose_load_shfl(K, W, my.n, my.load[1], fill_value<T>(1), v);
    } else {
        transpose_load_vec(K, W, my.n, my.load[0], fill_value<T>(0), u, PATH == VECTOR_STREAM);
        transpose_load_vec(K, W, my.n, my.load[1], fill_value<T>(1), v, PATH == VECTOR_STREAM);
    }
    for (int j = 0; j < K; j++) {
        loaded[((size_t)number * 64 + lane) * K + j] = u[j];
        loaded[((size_t)number * 64 + 32 + lane) * K + j] = v[j];
        u[j] = stored_value<T>(K, number, lane, j);
        v[j] = added_value<T>(K, number, lane, j);
    }
    if (PATH == SHARED) {
        transpose_store(K, W, my.n, u, my.store, shared);
        transpose_increment(K, W, my.n, v, my.increment, shared);
    } else if (PATH == PARTS) {
        transpose_to_striped(K, u, shared);
        transpose_to_striped(K, v, shared);
        transpose_store_striped(K, W, my.n, u, my.store);
        transpose_increment_striped(K, W, my.n, v, my.increment);
    } else if (PATH == SHUFFLE) {
        transpose_store_shfl(K, W, my.n, u, my.store);
        transpose_increment_shfl(K, W, my.n, v, my.increment);
    } else {
        transpose_store_vec(K, W, my.n, u, my.store, PATH == VECTOR_STREAM);
        transpose_increment_vec(K, W, my.n, v, my.increment, PATH == VECTOR_STREAM);
    }
}

/* Returns the lengths to try: all for a short row; for a long one those at the borders of lanes, vectors and halves. */
static std::vector<int> lengths(int K, int W)
{
    std::vector<int> list;
    int full = K * W;
    if (full <= 40) {
        for (int n = -1; n <= full; n++) list.push_back(n);
    } else {
        const int border[] = {-7,       0,         full,     1,        K - 1,    K,       K + 1,
                              5 * K,    15,        17,       32,       full / 2, full - K - 1,
                              full - K, full - K + 1, full - 4, full - 1};
        for (int n : border)
            if (n <= full) list.push_back(n);
    }
    return list;
}

template <class T> static T *to_device(const std::vector<T> &host)
{
    T *device;
    GPU_OK(cudaMalloc((void **)&device, host.size() * sizeof(T)));
    GPU_OK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <class T> static void to_host(std::vector<T> &host, const T *device)
{
    GPU_OK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

/* Tests one shape. Everything except the launch is compiled once for each precision. */
template <class T> static void test_launch(int K, int W, int path, void launch(int, const task<T> *, T *))
{
    const int G = 32 / W;
    std::vector<int> n = lengths(K, W);
    const int cases = (int)n.size();

    /* Group g of case i gets length i + 3 g of the list, so that the groups of a warp differ. Rows follow one another,
       up to 15 elements apart; the last one ends where its array ends, so that reads beyond it are found. */
    std::vector<int> length(cases * G);
    std::vector<size_t> start(cases * G);
    size_t total = 0;
    for (int i = 0; i < cases * G; i++) {
        int held;
        length[i] = n[(i / G + 3 * (i % G)) % cases];
        held = length[i] > 0 ? length[i] : 0;
        size_t aligned = (total + 3) / 4 * 4;
        start[i] = aligned + (i % 3 == 0 ? 0 : i % 4);
        total = start[i] + (size_t)held;
    }

    std::vector<T> source[2], stored(total + 1), incremented(total + 1), loaded((size_t)cases * 64 * K, (T)-77);
    for (int which = 0; which < 2; which++) {
        source[which].resize(total ? total : 1);
        for (size_t i = 0; i < total; i++) source[which][i] = (T)(1 + i + which * total);
    }
    for (size_t i = 0; i <= total; i++) {
        stored[i] = -(T)i - (T)0.25;
        incremented[i] = (T)(2 * i) + (T)0.5;
    }
    const std::vector<T> stored_before = stored, incremented_before = incremented;

    T *sources[2] = {to_device(source[0]), to_device(source[1])};
    T *device_stored = to_device(stored), *device_incremented = to_device(incremented);
    T *device_loaded = to_device(loaded);
    std::vector<task<T>> tasks(cases * G);
    for (int i = 0; i < cases * G; i++) {
        tasks[i].n = length[i];
        if (length[i] <= 0) {
            tasks[i].load[0] = tasks[i].load[1] = tasks[i].store = tasks[i].increment = nullptr;
            continue;
        }
        tasks[i].load[0] = sources[0] + start[i];
        tasks[i].load[1] = sources[1] + start[i];
        tasks[i].store = device_stored + start[i];
        tasks[i].increment = device_incremented + start[i];
    }
    task<T> *device_tasks = to_device(tasks);

    launch(cases, device_tasks, device_loaded);
    GPU_OK(cudaGetLastError());
    GPU_OK(cudaDeviceSynchronize());
    to_host(loaded, device_loaded);
    to_host(stored, device_stored);
    to_host(incremented, device_incremented);

    const char *precision = sizeof(T) == 4 ? "f32" : "f64";
    std::vector<T> want_stored = stored_before, want_incremented = incremented_before;
    for (int i = 0; i < cases; i++) {
        int wrong = 0;
        for (int lane = 0; lane < 32; lane++) {
            for (int j = 0; j < K; j++) {
                /* Element e of the warp's 32*K is element e % (K*W) of group e / (K*W). */
                int blocked = lane * K + j, access = 32 * j + lane;
                for (int which = 0; which < 2; which++) {
                    int e = path == PARTS && which == 1 ? access : blocked;
                    int group = i * G + e / (K * W), inside = e % (K * W) < length[group];
                    T want = inside ? source[which][start[group] + e % (K * W)] : fill_value<T>(which);
                    wrong += loaded[((size_t)i * 64 + 32 * which + lane) * K + j] != want;
                }
                int group = i * G + blocked / (K * W), e = blocked % (K * W);
                if (e < length[group]) {
                    want_stored[start[group] + e] = stored_value<T>(K, i, lane, j);
                    want_incremented[start[group] + e] += added_value<T>(K, i, lane, j);
                }
            }
        }
        CHECK(wrong == 0, "load %s %s, K = %d, W = %d, n = %d: %d of %d elements wrong", path_name[path], precision, K,
              W, length[i * G], wrong, 64 * K);
    }
    size_t wrong_stored = 0, wrong_incremented = 0;
    for (size_t i = 0; i <= total; i++) {
        wrong_stored += stored[i] != want_stored[i];
        wrong_incremented += incremented[i] != want_incremented[i];
    }
    CHECK(wrong_stored == 0, "store %s %s, K = %d, W = %d: %zu of %zu elements wrong", path_name[path], precision, K, W,
          wrong_stored, total);
    CHECK(wrong_incremented == 0, "increment %s %s, K = %d, W = %d: %zu of %zu elements wrong", path_name[path],
          precision, K, W, wrong_incremented, total);

    GPU_OK(cudaFree(device_tasks));
    GPU_OK(cudaFree(device_loaded));
    GPU_OK(cudaFree(device_incremented));
    GPU_OK(cudaFree(device_stored));
    GPU_OK(cudaFree(sources[1]));
    GPU_OK(cudaFree(sources[0]));
}

template <class T, int K, int W, int PATH> static void test(void)
{
    test_launch<T>(K, W, PATH, [](int cases, const task<T> *tasks, T *loaded) {
        GPU_LAUNCH((run<T, K, W, PATH>), (cases + WARPS(K) - 1) / WARPS(K), 32 * WARPS(K), 0, 0)(cases, tasks, loaded);
    });
}

template <class T, int K, int W> static void test_any(void)
{
    test<T, K, W, SHARED>();
    test<T, K, W, PARTS>();
    test<T, K, W, W == 32 || K % 8 ? VECTOR : VECTOR_STREAM>();
}

template <class T, int K> static void test_shuffles(void)
{
    test<T, K, 2, SHUFFLE>();
    test<T, K, 4, SHUFFLE>();
    test<T, K, 8, SHUFFLE>();
    test<T, K, 16, SHUFFLE>();
    test<T, K, 32, SHUFFLE>();
}

template <class T> static void test_precision(void)
{
    test_shuffles<T, 1>();
    test_shuffles<T, 2>();
    test_shuffles<T, 4>();
    test_shuffles<T, 8>();
    test_shuffles<T, 16>();
    test_shuffles<T, 32>();

    /* All group sizes for a few widths: odd, even, a power of two, a divisor of 32 and a multiple. */
    test_any<T, 1, 2>();
    test_any<T, 1, 8>();
    test_any<T, 1, 32>();
    test_any<T, 3, 2>();
    test_any<T, 3, 4>();
    test_any<T, 3, 8>();
    test_any<T, 3, 16>();
    test_any<T, 3, 32>();
    test_any<T, 6, 2>();
    test_any<T, 6, 16>();
    test_any<T, 6, 32>();
    test_any<T, 8, 2>();
    test_any<T, 8, 4>();
    test_any<T, 8, 8>();
    test_any<T, 8, 16>();
    test_any<T, 8, 32>();
    test_any<T, 32, 2>();
    test_any<T, 32, 16>();
    test_any<T, 32, 32>();

    /* The other widths of systems. */
    test_any<T, 2, 4>();
    test_any<T, 2, 32>();
    test_any<T, 4, 8>();
    test_any<T, 4, 32>();
    test_any<T, 5, 16>();
    test_any<T, 5, 32>();
    test_any<T, 7, 2>();
    test_any<T, 7, 32>();
    test_any<T, 9, 4>();
    test_any<T, 9, 32>();
    test_any<T, 12, 8>();
    test_any<T, 12, 32>();
    test_any<T, 16, 16>();
    test_any<T, 16, 32>();
    test_any<T, 31, 4>();
    test_any<T, 31, 32>();
    test<T, 16, 32, VECTOR_STREAM>();
    test<T, 16, 4, VECTOR>();

    /* Arrays of large structs. */
    test<T, 33, 32, SHARED>();
    test<T, 48, 32, SHARED>();
    test<T, 64, 32, SHARED>();
    test<T, 95, 32, SHARED>();
    test<T, 96, 32, SHARED>();
    test<T, 96, 32, PARTS>();
    test<T, 80, 4, SHARED>();
}

int main(void)
{
#ifdef SIMT_EMULATOR
    simt_permute(2026); /* the warps and lanes take turns in random order */
#endif
    test_precision<float>();
    test_precision<double>();
    return check_report();
}
