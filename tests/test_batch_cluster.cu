/* test_batch_cluster.cu - interleaved systems that a cluster of blocks shares (trid/batch.h), on a GPU that has
   clusters or under tests/simt.
   MIT licence, see LICENSE.

   The kernel is launched in every size of cluster, even where the header's table would choose another one, and through
   the public functions, which must give the same on a device without clusters. Everything that is not an element of x
   must stay as it was. Answers come from pivoted elimination in long double. */
#define TRID_P_BATCH_MANY_TILES 0 /* wide clusters for few systems too */
#include "trid/batch.h"

#include "batch_field.h"

/* Says what this file's kernels were compiled for. */
TRID_KERNEL void compiled_for(int *version)
{
#ifdef __CUDA_ARCH__
    *version = __CUDA_ARCH__ / 10;
#else
    *version = 90; /* the emulator's usual device */
#endif
}

static int clusters_here(void)
{
    return trid_compiled_for(compiled_for) >= 90; /* PTX of older devices has none on a newer one either */
}

/* How a case is launched: by the public functions, or in clusters of this many blocks, each with S partitions of 16
   rows. */
enum { PUBLIC = 0 };
struct way {
    int parts, S;
};

template <class T, int PIVOTED>
static int launch_of(way w, trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d, T *x,
                     const told *report)
{
    if (w.parts == PUBLIC) {
        scratch_memory scratch(lines, flags, sizeof(T));
        const asked with(flags, report, clusters_here() ? 0 : &scratch); /* no more than 8192 rows need none there */
        return PIVOTED ? trid_batch_pivoted(lines, a, b, c, d, x, with, 0)
                       : trid_batch_solve(lines, a, b, c, d, x, with, 0);
    }
    typedef trid_p_batch_how how;
    const int F = sizeof(T) == 4 ? 2 : 1, method = PIVOTED ? how::pivoted : how::hybrid;
    const asked with(flags, report);
    trid_p_batch_call<T> call = {lines, a, b, c, d, x, with, 0};
    int status = trid_p_batch_begin(&call);
    if (status) return status;
    auto start = [&](auto shape) {
        return trid_p_batch_launch_shape<method, decltype(shape)>(
            call.work, w.parts, trid_p_batch_is_vectorised(call.work.plan.lines, call.rows, d), call.rows);
    };
    status = w.S == 16 ? start(trid_p_batch_shape<16, 16 * F, 16, 2, 256, how::clusters>())
                       : start(trid_p_batch_shape<16, 8 * F, 32, 4, 128, how::clusters>());
    return status == TRID_P_BATCH_NOT_LAUNCHED ? 77 : status;
}
template <class T>
static int launch(way w, int pivoted, trid_lines lines, int flags, const T *a, const T *b, const T *c, const T *d, T *x,
                  const told *report)
{
    return pivoted ? launch_of<T, 1>(w, lines, flags, a, b, c, d, x, report)
                   : launch_of<T, 0>(w, lines, flags, a, b, c, d, x, report);
}

enum { ADD = 1, IN_PLACE = 2, SILENT = 4, FAILURES = 8, WITH_PIVOTS = 16 };

/* Tests one call on random systems with |b| >= 1.4 (|a| + |c|); tests/batch_field.h explains the tolerance. With
   FAILURES every third system has a row that is zero, and nothing is coupled to it: the status names it. */
template <class T>
static void test_case(const char *name, way w, trid_lines lines, int what, int shift)
{
    static int turn;
    if (check_short() && turn++ % 4) return;
    /* The messages of 16 partitions leave no room for the old x. */
    if (w.parts == 16 && (what & WITH_PIVOTS)) what &= ~ADD;
    const double unit = sizeof(T) == 4 ? UNIT_F32 : UNIT_F64, tolerance = 128 * unit;
    const int n = (int)lines.n, in_place = (what & IN_PLACE) != 0, add = (what & ADD) != 0;
    const long long systems = lines.systems * lines.groups;
    field<T> a = make_field<T>(lines, shift), b = make_field<T>(lines, shift), c = make_field<T>(lines, shift);
    field<T> d = make_field<T>(lines, shift), x = in_place ? d : make_field<T>(lines, shift);
    std::vector<int> zero((size_t)systems, -1), status((size_t)systems + 2, 77);
    for (long long g = 0; g < lines.groups; g++)
        for (long long s = 0; s < lines.systems; s++) {
            int &bad = zero[(size_t)(g * lines.systems + s)];
            if ((what & FAILURES) && (g * lines.systems + s) % 3 == 1) bad = case_below(&dice, n);
            for (int j = 0; j < n; j++) {
                long long at = offset(lines, g, s, j);
                double left = case_between(&dice, -1, 1), right = case_between(&dice, -1, 1);
                double size = (fabs(left) + fabs(right)) * case_between(&dice, 1.4, 3) + 0.1;
                if (j == bad) left = right = size = 0;
                a[at] = j > 0 ? (T)left : (T)NAN;
                b[at] = (T)(case_below(&dice, 2) ? size : -size);
                c[at] = j < n - 1 ? (T)right : (T)NAN;
                x[at] = add ? (T)case_between(&dice, -1, 1) : (T)NAN;
                d[at] = (T)case_between(&dice, -1, 1);
            }
        }
    int *device_status;
    unsigned long long failed[2] = {5, 5}, *device_failed;
    GPU_OK(cudaMalloc((void **)&device_status, status.size() * sizeof(int)));
    GPU_OK(cudaMemcpy(device_status, status.data(), status.size() * sizeof(int), cudaMemcpyHostToDevice));
    GPU_OK(filled((void **)&device_failed, sizeof failed));
    told report = {device_status + 1, 0, 0, device_failed};
    upload(a), upload(b), upload(c), upload(d);
    if (!in_place) upload(x);
    field<T> before = in_place ? d : x;
    int launched =
        launch(w, what & WITH_PIVOTS, lines, add ? TRID_BATCH_ADD : 0, (const T *)a.at(), (const T *)b.at(),
               (const T *)c.at(), (const T *)d.at(), in_place ? d.at() : x.at(), what & SILENT ? 0 : &report);
    CHECK(launched == TRID_BATCH_OK, "%s n %d, %d blocks: %s", name, n, w.parts, trid_batch_status_string(launched));
    std::vector<T> after(before.host.size());
    GPU_OK(cudaMemcpy(after.data(), before.device, after.size() * sizeof(T), cudaMemcpyDeviceToHost));
    GPU_OK(cudaMemcpy(status.data(), device_status, status.size() * sizeof(int), cudaMemcpyDeviceToHost));
    GPU_OK(cudaMemcpy(failed, device_failed, sizeof failed, cudaMemcpyDeviceToHost));

    double worst = 0;
    long wrong = 0;
    unsigned long long count = 0, least = ~0ull;
    std::vector<long double> la((size_t)n), lb((size_t)n), lc((size_t)n), ld((size_t)n), lx((size_t)n);
    for (long long g = 0; g < lines.groups; g++)
        for (long long s = 0; s < lines.systems; s++) {
            long long index = g * lines.systems + s;
            int bad = zero[(size_t)index], got = status[(size_t)index + 1];
            /* The zero row is found in its own partition, or in the link of the partition before. */
            wrong += bad < 0                ? got != 0
                     : (what & WITH_PIVOTS) ? got != 1
                                            : !(got > 0 && got <= std::min(n, bad + 1) && got > bad - 22);
            if (bad >= 0) count++, least = std::min(least, (unsigned long long)index);
            for (int j = 0; j < n; j++) {
                size_t i = (size_t)j;
                long long at = offset(lines, g, s, j);
                la[i] = a[at], lb[i] = b[at], lc[i] = c[at], ld[i] = d[at];
            }
            if (bad < 0) batch_answer(n, la.data(), lb.data(), lc.data(), ld.data(), lx.data());
            double size = 0, error = 0;
            for (int j = 0; j < n; j++) {
                long long at = offset(lines, g, s, j);
                T value = after[(size_t)(before.origin + at)];
                if (bad < 0) {
                    long double want = lx[(size_t)j] + (add ? (long double)before[at] : 0);
                    double e = (double)fabsl((long double)value - want);
                    size = std::max(size, (double)fabsl(lx[(size_t)j]) + (add ? fabs((double)before[at]) : 0));
                    if (!(e <= error)) error = e;
                }
                before[at] = value; /* what is left to compare are the guards */
            }
            if (bad < 0 && !(error / size <= worst)) worst = error / size;
        }
    check_near(worst, 0, tolerance, "%s %s n %d, %lld x %lld systems, %d blocks of %d partitions, case %d: error", name,
               sizeof(T) == 4 ? "f32" : "f64", n, lines.systems, lines.groups, w.parts, w.S, what);
    CHECK(!memcmp(after.data(), before.host.data(), after.size() * sizeof(T)), "%s n %d: wrote beyond x", name, n);
    if (!(what & SILENT)) {
        CHECK(wrong == 0, "%s %s n %d, %d blocks: %ld statuses wrong", name, sizeof(T) == 4 ? "f32" : "f64", n, w.parts,
              wrong);
        CHECK(status[0] == 77 && status[(size_t)systems + 1] == 77, "%s n %d: wrote beyond the statuses", name, n);
        CHECK(failed[0] == count && failed[1] == least, "%s n %d: failed %llu, first %llu, want %llu, %llu", name, n,
              failed[0], failed[1], count, least);
    }
    T *all[4] = {a.device, b.device, c.device, d.device};
    for (T *p : all) GPU_OK(cudaFree(p));
    if (!in_place) GPU_OK(cudaFree(x.device));
    GPU_OK(cudaFree(device_status));
    GPU_OK(cudaFree(device_failed));
}

/* Returns the layouts in which systems are interleaved. */
static std::vector<layout> beside(int n, int systems)
{
    std::vector<layout> all = layouts(n, systems), list;
    for (const layout &l : all)
        if (trid_p_lines_are_interleaved(trid_p_lines_join(l.lines))) list.push_back(l);
    return list;
}

/* Tests sizes around those of the partitions, some of which are then empty; fewer systems than a tile, a tile,
   several. */
template <class T>
static void test_parts()
{
    for (int parts : {2, 3, 4, 7, 8, 16}) {
        const int full = 256 * parts, large = parts > 4;
        const int sizes[] = {full, full - 1, full / 2 + 1, 2 + case_below(&dice, full - 1), 2};
        for (int n : sizes)
            for (int m : {1, 8, 36, 100}) {
                if (large ? m == 100 || (n != full && m != 8) : n > 512 && case_below(&dice, 2)) continue;
                test_case<T>("interleaved", {parts, 16}, trid_lines_interleaved(n, m),
                             case_below(&dice, 8) | (case_below(&dice, 2) ? WITH_PIVOTS : 0),
                             case_below(&dice, 2) ? 0 : case_below(&dice, 4));
                if (!large || m == 8)
                    test_case<T>("failures", {parts, 16}, trid_lines_interleaved(n, m),
                                 FAILURES | (case_below(&dice, 2) ? WITH_PIVOTS : 0), 0);
            }
        for (const layout &l : beside(full - 5, 13))
            if (!large) test_case<T>(l.name, {parts, 16}, l.lines, case_below(&dice, 8), case_below(&dice, 4));
        if (!large) {
            test_case<T>("partitions of 32", {parts, 32}, trid_lines_interleaved(2 * full, 20), case_below(&dice, 8),
                         0);
            test_case<T>("partitions of 32", {parts, 32}, trid_lines_interleaved(2 * full - 100, 9), FAILURES, 0);
            test_case<T>("partitions of 32", {parts, 32}, trid_lines_interleaved(2 * full - 100, 9), WITH_PIVOTS, 0);
        }
    }
}

/* Tests the public functions, which must give the same without clusters. */
template <class T>
static void test_public()
{
    for (int n : {257, 300, 352, 353, 511, 512, 513, 700, 880, 1000, 1024, 1025, 2000, 4096, 5000})
        for (const layout &l : beside(n, n % 2 || n > 1024 ? 5 : 40)) {
            if (n > 1024 && case_below(&dice, n > 2048 ? 7 : 4)) continue; /* a sample, since these take long */
            test_case<T>(l.name, {PUBLIC, 0}, l.lines, case_below(&dice, 32) & ~IN_PLACE, case_below(&dice, 4));
        }
}

/* Tests the cluster functions of trid/launch.h: blocks send each other a number, again and again. */
template <class T, int LANES>
TRID_KERNEL void exchange(T *out, int times)
{
    enum { V = 16 / sizeof(T) };
    __shared__ unsigned long long box[2];
    __shared__ __align__(16) T from[2][16][LANES][V];
    int thread = (int)threadIdx.x, rank = trid_cluster_rank(), size = trid_cluster_size();
    if (thread < 2) trid_mbarrier_init(&box[thread]);
    trid_cluster_sync();
    T v = (T)(rank + thread % LANES);
    for (int i = 0; i < times; i++) {
        int k = i & 1;
        if (thread == 0) trid_mbarrier_expect(&box[k], 16 * size * LANES);
        for (int q = thread / LANES; q < size; q += (int)blockDim.x / LANES) {
            T *to = from[k][rank][thread % LANES];
            const T four[4] = {v, (T)i, (T)rank, (T)q}, two[4] = {v, (T)(rank + 100 * q)};
            trid_cluster_send(to, q, &box[k], sizeof(T) == 4 ? four : two);
        }
        trid_mbarrier_wait(&box[k], i / 2 & 1);
        T sum = 0;
        for (int q = 0; q < size; q++) {
            const T *got = from[k][q][thread % LANES];
            sum += got[0] * (T)(q + 1);
            if (sizeof(T) == 4 ? got[1] != (T)i || got[2] != (T)q || got[V - 1] != (T)rank
                               : got[V - 1] != (T)(q + 100 * rank))
                sum = (T)NAN;
        }
        v = sum - (T)(7 * (int)(sum / 7));
        __syncthreads(); /* nothing is sent before all have read */
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
template <class T>
static void test_exchange()
{
    enum { LANES = 32, THREADS = 128, TIMES = 9 };
    T *device;
    std::vector<T> got(2 * 16 * THREADS);
    GPU_OK(cudaMalloc((void **)&device, got.size() * sizeof(T)));
    for (int size = 2; size <= 16; size++) { /* compute-sanitizer does not support clusters of one block */
        int clusters = trid_clusters(exchange<T, LANES>, size, dim3(THREADS), 0);
        if (clusters == 0) {
            check_skip(1, "clusters of %d blocks", size);
            continue;
        }
        GPU_OK(cudaMemset(device, 0xff, got.size() * sizeof(T)));
        GPU_OK(trid_launch_cluster(exchange<T, LANES>, dim3(2 * (unsigned)size), size, dim3(THREADS), 0, 0, device,
                                   (int)TIMES));
        GPU_OK(cudaDeviceSynchronize());
        GPU_OK(cudaMemcpy(got.data(), device, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
        long wrong = 0;
        for (int lane = 0; lane < LANES; lane++) {
            double v[16];
            for (int q = 0; q < size; q++) v[q] = q + lane;
            for (int i = 0; i < TIMES; i++) {
                double sum = 0;
                for (int q = 0; q < size; q++) sum += v[q] * (q + 1);
                sum -= 7 * (int)(sum / 7);
                for (int q = 0; q < size; q++) v[q] = sum;
            }
            for (int i = lane; i < 2 * size * THREADS; i += LANES) wrong += got[(size_t)i] != (T)v[0];
        }
        CHECK(wrong == 0, "exchange %s of %d blocks: %ld wrong", sizeof(T) == 4 ? "f32" : "f64", size, wrong);
    }
    GPU_OK(cudaFree(device));
}

/* trid_compiled_for returns what the kernel itself was compiled for. */
static void test_compiled_for()
{
    int *device, version = 0;
    GPU_OK(cudaMalloc((void **)&device, sizeof *device));
    GPU_OK(trid_launch(compiled_for, 1, 1, 0, 0, device));
    GPU_OK(cudaMemcpy(&version, device, sizeof version, cudaMemcpyDeviceToHost));
    CHECK(trid_compiled_for(compiled_for) == version, "compiled for %d, not for %d", version,
          trid_compiled_for(compiled_for));
    GPU_OK(cudaFree(device));
}

int main(void)
{
    test_compiled_for();
    if (clusters_here()) {
        test_exchange<float>();
        test_exchange<double>();
        test_parts<float>();
        test_parts<double>();
    } else {
        check_skip(1, "clusters, which this device has none of");
    }
    test_public<float>();
    test_public<double>();
#ifdef SIMT_EMULATOR
    simt_capability(8, 0);
    CHECK(trid_compiled_for(compiled_for) == 80, "compiled for a device without clusters");
    test_public<float>();
    test_public<double>();
#endif
    if (check_short()) check_skip(1, "three in four calls: SHORT_TESTS is set");
    return check_report();
}
