/* device_batch.h - batches of systems for the tests of trid.h on the device: made on the host, solved by a kernel of
   the test's own, and brought back with each thread's status. Real is float or double.
   MIT licence, see LICENSE.

       batch<Real> systems(K * W);                     of up to K W rows each
       systems.add_random(&random, n, 1.25);           dominant; add(system) takes any
       outcome<Real> got = run(kernel, ways, systems, blocks, block, shared_bytes);
       got.solution(systems, way, i)                   x of system i, in double

   On the device, a[0], c[n-1] and everything beyond a system's rows are NaN: nobody may use them. For a GPU and for the
   emulator. */
#ifndef DEVICE_BATCH_H
#define DEVICE_BATCH_H

#include "gpu.h"
#include "trid_cases.h"

#include <float.h>

#include <vector>

/* ---- what differs by precision ---------------------------------------------------------------------------------- */

static inline double roundoff_of(float)
{
    return FLT_EPSILON / 2;
}
static inline double roundoff_of(double)
{
    return DBL_EPSILON / 2;
}
static inline const char *type_of(float)
{
    return "f32";
}
static inline const char *type_of(double)
{
    return "f64";
}
static inline bool is_float(float)
{
    return true;
}
static inline bool is_float(double)
{
    return false;
}

/* ---- batches of systems, and kernels over them ------------------------------------------------------------------ */

/* What a kernel gets. Element (system, row) of each array is at ((system / side) * slot + row) * side + system % side:
   side = 1 makes systems contiguous, side > 1 interleaves `side` systems at a time. Way m of solving leaves its x from
   [m * elements] on and the threads' statuses from [m * threads] on. */
template <class Real>
struct view {
    const int *n;
    const Real *a, *b, *c, *d;
    Real *x;
    int *status, *steps;
    size_t elements, threads;
};

template <class Real>
struct batch {
    int slot, side;
    std::vector<case_system> systems;
    std::vector<int> claimed;      /* the n that the device is told, which may differ from the system's */
    std::vector<double> condition; /* the error allowed in x, in roundoffs */

    batch(int slot_, int side_ = 1) : slot(slot_), side(side_) {}
    batch(const batch &) = delete;
    batch &operator=(const batch &) = delete;
    ~batch()
    {
        for (case_system s : systems) case_free(s);
    }

    void add(case_system s, double condition_ = case_condition(1.25))
    {
        if (is_float(Real())) case_round_to_float(s);
        systems.push_back(s);
        claimed.push_back(s.n);
        condition.push_back(condition_);
    }
    void add_empty(int n) /* 0 or less */
    {
        add(case_new(0));
        claimed.back() = n;
    }
    void add_random(case_random *random, int n, double dominance) /* 1.25 or more */
    {
        add(case_dominant(random, n, dominance, is_float(Real())));
    }
    void add_far_reaching(case_random *random, int n, int distance)
    {
        double excess = 1.0 / distance / distance;
        add(case_far_reaching(random, n, excess, is_float(Real())), (4 + excess) / excess);
    }
    void fill_up(size_t count)
    {
        while (systems.size() % count) add(case_new(0));
    }
    int count() const { return (int)systems.size(); }
    size_t at(int system, int row) const
    {
        return ((size_t)(system / side) * (size_t)slot + (size_t)row) * (size_t)side + (size_t)(system % side);
    }
    size_t elements() const { return systems.size() * (size_t)slot; }
};

template <class T>
struct device_array {
    T *data;
    size_t count;

    explicit device_array(const std::vector<T> &from) : data(), count(from.size())
    {
        GPU_OK(cudaMalloc(&data, (count + 1) * sizeof(T))); /* one more, because 0 bytes may be an error */
        GPU_OK(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
    ~device_array() { cudaFree(data); }
    std::vector<T> download() const
    {
        std::vector<T> to(count);
        GPU_OK(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
};

template <class Real>
std::vector<Real> gather(const batch<Real> &from, double *case_system::*column)
{
    std::vector<Real> to(from.elements(), (Real)NAN);
    for (int i = 0; i < from.count(); i++)
        for (int j = 0; j < from.systems[i].n; j++) to[from.at(i, j)] = (Real)(from.systems[i].*column)[j];
    return to;
}

template <class Real>
struct outcome {
    std::vector<Real> x;
    std::vector<int> status, steps;
    size_t elements, threads;

    Real at(const batch<Real> &of, int way, int system, int row) const
    {
        return x[(size_t)way * elements + of.at(system, row)];
    }
    int lanes(const batch<Real> &of) const { return (int)(threads / (size_t)of.count()); } /* of a system */
    int status_of(int way, size_t thread) const { return status[(size_t)way * threads + thread]; }
    std::vector<double> solution(const batch<Real> &of, int way, int system) const
    {
        std::vector<double> values;
        for (int j = 0; j < of.systems[system].n; j++) values.push_back((double)at(of, way, system, j));
        return values;
    }
};

/* Runs a kernel on the batch, and returns what it leaves. The batch must fill all blocks: fill_up adds empty
   systems. */
template <class Real, class Kernel>
outcome<Real> run(Kernel kernel, int ways, const batch<Real> &systems, int blocks, dim3 block, size_t shared_bytes)
{
    size_t threads = (size_t)blocks * block.x * block.y * block.z, elements = systems.elements();
    device_array<int> n(systems.claimed), status(std::vector<int>(ways * threads, -99));
    device_array<int> steps(std::vector<int>(threads, -99));
    device_array<Real> a(gather(systems, &case_system::a)), b(gather(systems, &case_system::b));
    device_array<Real> c(gather(systems, &case_system::c)), d(gather(systems, &case_system::d));
    device_array<Real> x(std::vector<Real>(ways * elements, (Real)NAN));
    view<Real> on_device = {n.data, a.data, b.data, c.data, d.data, x.data, status.data, steps.data, elements, threads};
    if (shared_bytes > 48 * 1024)
        GPU_OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes));
    GPU_LAUNCH(kernel, blocks, block, shared_bytes, 0)(on_device);
    GPU_OK(cudaGetLastError());
    GPU_OK(cudaDeviceSynchronize());
    return {x.download(), status.download(), steps.download(), elements, threads};
}

__device__ __forceinline__ int thread_of_block()
{
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

__device__ __forceinline__ int threads_of_block()
{
    return (int)(blockDim.x * blockDim.y * blockDim.z);
}

__device__ __forceinline__ size_t thread_of_grid()
{
    return (size_t)blockIdx.x * threads_of_block() + thread_of_block();
}

/* The K rows of a lane, stride apart. */
template <class Real, int K>
struct rows {
    Real a[K], b[K], c[K], d[K];

    __device__ __forceinline__ void load(const view<Real> &from, size_t first, size_t stride = 1)
    {
        for (int j = 0; j < K; j++) {
            size_t i = first + j * stride;
            a[j] = from.a[i], b[j] = from.b[i], c[j] = from.c[i], d[j] = from.d[i];
        }
    }
    __device__ __forceinline__ void store(const view<Real> &to, int way, size_t first, int status, size_t stride = 1)
    {
        for (int j = 0; j < K; j++) to.x[way * to.elements + first + j * stride] = d[j];
        to.status[way * to.threads + thread_of_grid()] = status;
    }
};

/* Returns whether two solutions are the same to the last bit. */
template <class Real>
bool same_rows(const outcome<Real> &one, int one_way, const outcome<Real> &other, int other_way, const batch<Real> &of,
               int i)
{
    int differ = 0;
    for (int j = 0; j < of.slot; j++) {
        Real p = one.at(of, one_way, i, j), q = other.at(of, other_way, i, j);
        differ += memcmp(&p, &q, sizeof p) != 0;
    }
    return differ == 0;
}

/* Returns every n up to `most` if there are at most `few`, else those around the edges and `some` random ones. */
static inline std::vector<int> lengths(int K, int most, int few, int some, case_random *random)
{
    std::vector<int> n;
    if (most <= few) {
        for (int i = most; i >= 0; i--) n.push_back(i);
        return n;
    }
    const int edges[] = {0, 1, 2, K - 1, K, K + 1, 2 * K, most / 2, most - K - 1, most - K, most - 1, most};
    for (int edge : edges) n.push_back(edge);
    for (int i = 0; i < some; i++) n.push_back(case_below(random, most));
    return n;
}

#endif
