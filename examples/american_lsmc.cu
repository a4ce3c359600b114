/* american_lsmc.cu - American options by least-squares Monte Carlo, from three kernels a date to one a run.
   MIT licence, see LICENSE.

       american_lsmc [--csv [FILE]]       --csv FILE also writes the rows to FILE as CSV; --csv alone prints only CSV

   The method (Longstaff and Schwartz 2001; american_lsmc_host.c has it in plain C): backwards from maturity, at each
   date, regress the later cash flow of each path on a polynomial in x = S/K - 1 over the paths in the money, and
   exercise where that pays more than the polynomial predicts for waiting. A date takes little work, but needs the
   result of the date after it. So its cost is the time from the paths to the sums and back to the paths. The rungs:

       three         three kernels a date: sums by block; their totals and the polynomial; exercise
       two_atomic    two kernels: blocks add to the sums by atomics; each block computes the polynomial and exercises
       two           two kernels: sums by block; each block adds them up, computes the polynomial and exercises
       one           one kernel: exercise on a date, and the sums of the date before it
       graph_two, graph_one    the same kernels from a CUDA graph
       whole         one cooperative kernel for a run, with a barrier of a scenario's blocks on each date
       bridge        as whole, but paths are drawn on the way, backwards, while blocks wait; none is stored

   Every rung prices a batch of scenarios on the same Brownian paths; blockIdx.y runs over the scenarios. The program
   prints each rung with batches of 1 to 64, 32768 paths and 100 dates; four puts whose values are known, beside
   bs1d.h's American march; the Greeks of a list of options by bumped scenarios in one batch. Times are medians of 9
   runs after a warm-up, and include drawing the paths. The program fails if rungs disagree or a price is off.
   Without a GPU it exits with 3. In the emulator it checks the rungs on a few paths. docs/american_lsmc.md has the
   figures. */
#include "bs1d.h"
#include "cuda_check.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 256 /* a block */

enum {
    LANES = 32,
    WARPS = THREADS / LANES,
    MAX_DEGREE = 4,
    COEFFICIENTS = MAX_DEGREE + 1,
    SUMS = 16,         /* the most sums of a date, rounded up to a power of two */
    COUNTER_PITCH = 32 /* words between two counters, so that each has a cache line of its own */
};

struct Option {
    double spot, strike, rate, dividend, volatility, maturity; /* years */
    int put;
};

struct Result {
    double price, error; /* the mean over the paths, and its standard error */
};

/* An option as a path sees it, in units of the strike. */
struct Model {
    double ratio, drift, diffusion; /* on date i: S/K = ratio exp(drift i + diffusion w) */
    double discount, sign, strike;  /* from date to date; -1 for a put */
};

/* A run: its size and its arrays, all in device memory. Dates are 1 .. dates, and 0 is today. */
struct Run {
    int paths, dates, scenarios, blocks; /* blocks of a scenario */
    int least;       /* in-the-money paths that a regression needs; with fewer, nothing is exercised on that date */
    int given;       /* the paths are already in w; bridge still draws its own */
    int processors;  /* multiprocessors of the GPU */
    int first, held; /* cooperative kernels: first scenario of this launch; a thread's paths in shared memory */
    uint64_t seed;
    const Model *model; /* of each scenario */
    double *w;          /* [dates][paths] Brownian paths, in units of the root of the time between two dates */
    double *cash;       /* [scenarios][paths] cash flow of the path, in units of the strike, as of the last date done */
    double *partial;    /* [2][scenarios][SUMS][blocks] sums of each block; even and odd dates alternate */
    double *sums;       /* [dates][scenarios][SUMS] sums by atomics */
    double *fitted;     /* [scenarios][dates][COEFFICIENTS] the polynomials; INFINITY where nothing is exercised */
    unsigned *arrived;  /* [scenarios * COUNTER_PITCH] arrivals of blocks at barriers so far */
    Result *result;     /* [scenarios] */
};

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

/* Turns a counter of four words and a key of two into four random words: Philox 4x32-10 (Salmon et al. 2011). */
TB_HD void philox(uint32_t counter[4], uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)0xd2511f53 * counter[0], q = (uint64_t)0xcd9e8d57 * counter[2];
        counter[0] = (uint32_t)(q >> 32) ^ counter[1] ^ k0;
        counter[1] = (uint32_t)q;
        counter[2] = (uint32_t)(p >> 32) ^ counter[3] ^ k1;
        counter[3] = (uint32_t)p;
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
}

/* Returns a uniform number in (0, 1) with 52 bits; neither end occurs, so its logarithm is finite. */
TB_HD double uniform(uint32_t high, uint32_t low)
{
    return ((double)(((uint64_t)high << 32 | low) >> 12) + 0.5) * (1.0 / 4503599627370496.0);
}

/* Computes the sine and cosine of an angle in turns. */
TB_HD void turn(double turns, double *sine, double *cosine)
{
#ifdef __CUDA_ARCH__
    sincospi(2 * turns, sine, cosine);
#else
    *sine = sin(6.283185307179586 * turns);
    *cosine = cos(6.283185307179586 * turns);
#endif
}

/* Computes the normals of a path on an even date, 2 pair, and on the next (Box-Muller). They depend on the seed, the
   pass (0, or 1 for the second), the path and the date, and on nothing else, not even the shape of the launch. */
TB_HD void draw(uint64_t seed, int pass, int path, int pair, double *even, double *odd)
{
    uint32_t word[4] = {(uint32_t)path, (uint32_t)pair, (uint32_t)pass, 0};
    philox(word, (uint32_t)seed, (uint32_t)(seed >> 32));
    double radius = sqrt(-2 * log(uniform(word[0], word[1]))), sine, cosine;
    turn(uniform(word[2], word[3]), &sine, &cosine);
    *even = radius * cosine;
    *odd = radius * sine;
}

/* A Brownian path, drawn backwards: each date given the date after it, as a Brownian bridge to 0 today. */
struct Path {
    double w, spare; /* spare: the normal of the date before this one, if this one is odd */
};

/* Moves the path to a date; called for dates, dates-1, .., 1 in this order. */
TB_HD void move(Path *path, uint64_t seed, int pass, int number, int date, int dates)
{
    double even, odd, normal = path->spare;
    if (date % 2 || date == dates) {
        draw(seed, pass, number, date / 2, &even, &odd);
        normal = date % 2 ? odd : even;
        path->spare = even;
    }
    double share = date / (date + 1.0);
    path->w = date == dates ? sqrt((double)dates) * normal : share * path->w + sqrt(share) * normal;
}

/* ---- a path on a date -------------------------------------------------------------------------------------------- */

TB_HD double position(const Model &m, int date, double w)
{
    return m.ratio * exp(m.drift * date + m.diffusion * w) - 1;
}

TB_HD double at_maturity(const Model &m, double x)
{
    double gain = m.sign * x;
    return gain < 0 ? 0 : gain;
}

/* The number of sums in a regression of degree D, those of x^0 .. x^2D and x^0 y .. x^D y; and this number rounded up
   to a power of two. */
template <int D>
struct Shape {
    enum { needed = 3 * D + 2, padded = needed <= 8 ? 8 : 16 };
};

/* Adds a path to the sums of a date. cash is as of the date after it. Today's sums give mean and variance. */
template <int D, int N>
static __device__ __forceinline__ void add(const Model &m, int date, double x, double cash, double (&sum)[N])
{
    double y = cash * m.discount, power = 1;
    if (date == 0) {
        sum[0] += y;
        sum[1] += y * y;
    } else if (m.sign * x > 0) {
        TB_UNROLL
        for (int k = 0; k <= 2 * D; k++) {
            sum[k] += power;
            if (k <= D) sum[2 * D + 1 + k] += power * y;
            power *= x;
        }
    }
}

/* Returns a path's cash flow as of this date, given that of the next date; exercises if this pays more than
   waiting. */
template <int D>
static __device__ __forceinline__ double decide(const Model &m, const double *c, double x, double cash)
{
    double waiting = c[D], pays = m.sign * x;
    TB_UNROLL
    for (int k = D - 1; k >= 0; k--) waiting = waiting * x + c[k];
    return pays > 0 && pays > waiting ? pays : cash * m.discount;
}

/* Swaps a and b if wanted, without a branch. */
template <class T>
TB_HD void trade(bool wanted, T &a, T &b)
{
    T old = a;
    a = wanted ? b : a;
    b = wanted ? old : b;
}

/* Computes the polynomial from the sums over the paths in the money: scales the normal equations to a diagonal of ones,
   and takes the largest remaining diagonal element as each pivot. A pivot below 1e-12 belongs to a power that the paths
   cannot tell from the others; that power's coefficient is 0. Loops unroll, so that the matrix stays in registers. */
template <int D>
TB_HD void fit(const double *sum, int least, double *c)
{
    enum { N = D + 1 };
    double a[N][N], b[N], scale[N], inverse[N];
    int power[N];
    TB_UNROLL
    for (int i = 0; i < N; i++) {
        scale[i] = sum[2 * i] > 0 ? 1 / sqrt(sum[2 * i]) : 0;
        power[i] = i;
    }
    TB_UNROLL
    for (int i = 0; i < N; i++) {
        TB_UNROLL
        for (int j = 0; j < N; j++) a[i][j] = i == j ? 1 : sum[i + j] * scale[i] * scale[j];
        b[i] = sum[2 * D + 1 + i] * scale[i];
    }
    TB_UNROLL
    for (int k = 0; k < N; k++) {
        TB_UNROLL
        for (int i = k + 1; i < N; i++) { /* the largest pivot so far trades places with row and column k */
            bool larger = a[i][i] > a[k][k];
            TB_UNROLL
            for (int j = 0; j < N; j++) trade(larger, a[k][j], a[i][j]);
            TB_UNROLL
            for (int j = 0; j < N; j++) trade(larger, a[j][k], a[j][i]);
            trade(larger, b[k], b[i]);
            trade(larger, scale[k], scale[i]);
            trade(larger, power[k], power[i]);
        }
        inverse[k] = a[k][k] > 1e-12 ? 1 / a[k][k] : 0;
        TB_UNROLL
        for (int i = k + 1; i < N; i++) {
            double factor = a[i][k] * inverse[k];
            TB_UNROLL
            for (int j = k + 1; j < N; j++) a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    TB_UNROLL
    for (int i = N - 1; i >= 0; i--) {
        TB_UNROLL
        for (int j = i + 1; j < N; j++) b[i] -= a[i][j] * b[j];
        b[i] *= inverse[i];
    }
    TB_UNROLL
    for (int i = 0; i < N; i++) {
        double value = 0;
        TB_UNROLL
        for (int j = 0; j < N; j++) value = power[j] == i ? b[j] * scale[j] : value;
        c[i] = sum[0] >= least ? value : i ? 0 : INFINITY;
    }
}

/* ---- a block on a date ------------------------------------------------------------------------------------------- */

struct Scratch {
    double warp[WARPS][SUMS], sum[SUMS], c[COEFFICIENTS];
};

/* Returns the sum over the warp of v[i], i = lane / (32/N). At each step a lane gives away the half of its values
   that the other lane continues with: N + log2(32/N) - 1 exchanges, not 5 N. N is a power of two. */
template <int N, int MASK = LANES / 2>
static __device__ __forceinline__ double warp_sum(const double (&v)[N])
{
    if constexpr (MASK == 0) {
        return v[0];
    } else {
        const bool upper = threadIdx.x & MASK;
        double half[N > 1 ? N / 2 : 1];
        if (N == 1) half[0] = v[0] + __shfl_xor_sync(0xffffffff, v[0], MASK);
        TB_UNROLL
        for (int i = 0; i < N / 2; i++)
            half[i] = (upper ? v[i + N / 2] : v[i]) + __shfl_xor_sync(0xffffffff, upper ? v[i] : v[i + N / 2], MASK);
        return warp_sum<(N > 1 ? N / 2 : 1), MASK / 2>(half);
    }
}

/* Returns the sum of v[i] over the block in thread i < N, 0 in the others. */
template <int N>
static __device__ __forceinline__ double block_sum(double (&v)[N], Scratch *scratch)
{
    const int warp = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    double sum = warp_sum(v);
    if (lane % (LANES / N) == 0) scratch->warp[warp][lane / (LANES / N)] = sum;
    __syncthreads();
    sum = 0;
    if (threadIdx.x < N)
        for (int i = 0; i < WARPS; i++) sum += scratch->warp[i][threadIdx.x];
    return sum;
}

static __device__ __forceinline__ double *partial_of(const Run &r, int scenario, int date)
{
    return r.partial + (size_t)(date % 2 * r.scenarios + scenario) * SUMS * r.blocks;
}

/* Stores a block's sums of a date in device memory. */
template <int D, int N>
static __device__ __forceinline__ void publish(const Run &r, int scenario, int date, double (&v)[N], Scratch *scratch)
{
    double sum = block_sum(v, scratch);
    if (threadIdx.x < Shape<D>::needed) partial_of(r, scenario, date)[threadIdx.x * r.blocks + blockIdx.x] = sum;
}

/* Adds up the sums of all blocks into scratch->sum; each warp takes some of the sums. Loads bypass the first-level
   cache, which does not see the writes of other blocks during a kernel. The order is fixed, so that every block has the
   same numbers. */
static __device__ __forceinline__ void gather(const Run &r, int scenario, int date, int sums, Scratch *scratch)
{
    const double *partial = partial_of(r, scenario, date);
    const int warp = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    for (int i = warp; i < sums; i += WARPS) {
        double sum = 0;
        for (int b = lane; b < r.blocks; b += LANES) sum += __ldcg(partial + i * r.blocks + b);
        for (int mask = LANES / 2; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
        if (lane == 0) scratch->sum[i] = sum;
    }
    __syncthreads();
}

/* What the previous kernel left for this one: the sums of each block, those of all blocks, or the polynomial. */
enum Source { PARTIAL, SUMMED, FITTED };

/* Puts the polynomial of a date into scratch->c; if it is computed here, the first block also stores it. */
template <int D, int SOURCE>
static __device__ __forceinline__ void policy(const Run &r, int scenario, int date, Scratch *scratch)
{
    double *fitted = r.fitted + ((size_t)scenario * r.dates + date - 1) * COEFFICIENTS;
    if (SOURCE == PARTIAL) gather(r, scenario, date, Shape<D>::needed, scratch);
    if (threadIdx.x == 0) {
        const double *summed = r.sums + ((size_t)date * r.scenarios + scenario) * SUMS;
        if (SOURCE != FITTED) fit<D>(SOURCE == SUMMED ? summed : scratch->sum, r.least, scratch->c);
        TB_UNROLL
        for (int k = 0; k <= D; k++) {
            if (SOURCE == FITTED)
                scratch->c[k] = fitted[k];
            else if (blockIdx.x == 0)
                fitted[k] = scratch->c[k];
        }
    }
    __syncthreads();
}

/* Computes the result from today's sums. */
static __device__ __forceinline__ void conclude(const Run &r, int scenario, const double *sum)
{
    double strike = r.model[scenario].strike, mean = sum[0] / r.paths;
    double variance = fmax(sum[1] / r.paths - mean * mean, 0.0);
    r.result[scenario].price = strike * mean;
    r.result[scenario].error = strike * sqrt(variance / fmax(r.paths - 1.0, 1.0));
}

/* ---- the kernels of a run ---------------------------------------------------------------------------------------- */

/* Loops over a thread's paths, which are THREADS * blocks apart. */
#define EACH_PATH(p, r)                                                                                                \
    int p = (int)(blockIdx.x * THREADS + threadIdx.x);                                                                 \
    p < (r).paths;                                                                                                     \
    p += THREADS * (int)gridDim.x

static __device__ __forceinline__ double position_of(const Run &r, const Model &m, int date, int path)
{
    return position(m, date, r.w[(size_t)(date - 1) * r.paths + path]);
}

template <int unused>
TRID_KERNEL void __launch_bounds__(THREADS) draw_paths(Run r)
{
    for (EACH_PATH(p, r)) {
        Path path = {0, 0};
#ifdef __CUDA_ARCH__
#pragma unroll 4 /* so that the draws of several dates overlap */
#endif
        for (int date = r.dates; date >= 1; date--) {
            move(&path, r.seed, 0, p, date, r.dates);
            r.w[(size_t)(date - 1) * r.paths + p] = path.w;
        }
    }
}

template <int unused>
TRID_KERNEL void __launch_bounds__(THREADS) mature(Run r)
{
    const int scenario = (int)blockIdx.y;
    const Model m = r.model[scenario];
    double *cash = r.cash + (size_t)scenario * r.paths;
    for (EACH_PATH(p, r)) cash[p] = at_maturity(m, position_of(r, m, r.dates, p));
}

/* three, two_atomic and two: the first kernel of a date; one: the sums of the last date before maturity. */
template <int D, int TO>
TRID_KERNEL void __launch_bounds__(THREADS) moments(Run r, int date)
{
    __shared__ Scratch scratch;
    const int scenario = (int)blockIdx.y;
    const Model m = r.model[scenario];
    const double *cash = r.cash + (size_t)scenario * r.paths;
    double sum[Shape<D>::padded] = {0};
    for (EACH_PATH(p, r)) add<D>(m, date, date ? position_of(r, m, date, p) : 0, cash[p], sum);
    if (TO == PARTIAL) {
        publish<D>(r, scenario, date, sum, &scratch);
    } else {
        double all = block_sum(sum, &scratch);
        if (threadIdx.x < Shape<D>::needed)
            atomicAdd(r.sums + ((size_t)date * r.scenarios + scenario) * SUMS + threadIdx.x, all);
    }
}

/* three, second kernel: one scenario per block */
template <int D>
TRID_KERNEL void __launch_bounds__(THREADS) regress(Run r, int date)
{
    __shared__ Scratch scratch;
    policy<D, PARTIAL>(r, (int)blockIdx.y, date, &scratch);
}

/* three, two_atomic and two: the last kernel of a date */
template <int D, int SOURCE>
TRID_KERNEL void __launch_bounds__(THREADS) exercise(Run r, int date)
{
    __shared__ Scratch scratch;
    const int scenario = (int)blockIdx.y;
    const Model m = r.model[scenario];
    double *cash = r.cash + (size_t)scenario * r.paths;
    policy<D, SOURCE>(r, scenario, date, &scratch);
    for (EACH_PATH(p, r)) cash[p] = decide<D>(m, scratch.c, position_of(r, m, date, p), cash[p]);
}

/* one: exercise on a date, and the sums of the date before it */
template <int D>
TRID_KERNEL void __launch_bounds__(THREADS) step(Run r, int date)
{
    __shared__ Scratch scratch;
    const int scenario = (int)blockIdx.y;
    const Model m = r.model[scenario];
    double *cash = r.cash + (size_t)scenario * r.paths, sum[Shape<D>::padded] = {0};
    policy<D, PARTIAL>(r, scenario, date, &scratch);
    for (EACH_PATH(p, r)) {
        double now = decide<D>(m, scratch.c, position_of(r, m, date, p), cash[p]);
        add<D>(m, date - 1, date > 1 ? position_of(r, m, date - 1, p) : 0, now, sum);
        cash[p] = now;
    }
    publish<D>(r, scenario, date - 1, sum, &scratch);
}

/* The result: one scenario per block. */
template <int SOURCE>
TRID_KERNEL void __launch_bounds__(THREADS) finish(Run r)
{
    __shared__ Scratch scratch;
    const int scenario = (int)blockIdx.y;
    if (SOURCE == PARTIAL) gather(r, scenario, 0, 2, &scratch);
    if (threadIdx.x == 0) conclude(r, scenario, SOURCE == SUMMED ? r.sums + (size_t)scenario * SUMS : scratch.sum);
}

/* The second pass: exercise by the polynomials, on fresh paths, drawn on the way. No strategy earns more than the
   option is worth, so the mean is a lower bound. The kernel finish follows. */
template <int D>
TRID_KERNEL void __launch_bounds__(THREADS) second_pass(Run r)
{
    __shared__ Scratch scratch;
    const int scenario = (int)blockIdx.y;
    const Model m = r.model[scenario];
    const double *fitted = r.fitted + (size_t)scenario * r.dates * COEFFICIENTS;
    double sum[Shape<D>::padded] = {0};
    for (EACH_PATH(p, r)) {
        Path path = {0, 0};
        move(&path, r.seed, 1, p, r.dates, r.dates);
        double cash = at_maturity(m, position(m, r.dates, path.w));
        for (int date = r.dates - 1; date >= 1; date--) {
            move(&path, r.seed, 1, p, date, r.dates);
            cash = decide<D>(m, fitted + (date - 1) * COEFFICIENTS, position(m, date, path.w), cash);
        }
        add<D>(m, 0, 0, cash, sum);
    }
    publish<D>(r, scenario, 0, sum, &scratch);
}

/* ---- one kernel for a run ---------------------------------------------------------------------------------------- */

/* A barrier of all blocks of a scenario, in two halves, so that a block can work between them. All blocks are resident,
   since the launch is cooperative. The counter only grows: the n-th barrier opens when all have arrived n times. */
static __device__ __forceinline__ void arrive(unsigned *counter)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1u);
    }
}

static __device__ __forceinline__ void await(const unsigned *counter, unsigned all)
{
    if (threadIdx.x == 0) {
        while (*(const volatile unsigned *)counter < all) {
        }
        __threadfence();
    }
    __syncthreads();
}

/* Returns x of a path on a date; first moves a drawn path there. */
template <bool STORED>
static __device__ __forceinline__ double locate(const Run &r, const Model &m, int date, int p, double *w, double *spare)
{
    if (date == 0) return 0; /* today, where the position is not used */
    if (STORED) return position_of(r, m, date, p);
    Path path = {*w, *spare};
    move(&path, r.seed, 0, p, date, r.dates);
    *w = path.w;
    *spare = path.spare;
    return position(m, date, path.w);
}

/* How many words a thread keeps of a path; bridge also keeps the Brownian path and its next normal. */
template <bool STORED>
struct Held {
    enum { words = STORED ? 3 : 5 };
};

/* whole (STORED: paths from r.w) and bridge (paths drawn on the way). The state of a thread's first r.held paths is in
   shared memory: the cash flow, the position on this date, and the position on the date before, which is computed while
   the blocks wait for each other. Each of these is an array, in which a thread's paths are THREADS apart. Further paths
   keep their cash flows in device memory; they must be STORED. */
template <int D, bool STORED>
TRID_KERNEL void __launch_bounds__(THREADS, 2) whole(Run r)
{
    TRID_DYNAMIC_SHARED(dynamic);
    __shared__ Scratch scratch;
    const int scenario = r.first + (int)blockIdx.y, stride = THREADS * (int)gridDim.x, pitch = r.held * THREADS;
    const int mine = (int)(blockIdx.x * THREADS + threadIdx.x), beyond = mine + r.held * stride;
    const Model m = r.model[scenario];
    double *cash = (double *)dynamic + threadIdx.x, *here = cash + pitch, *before = here + pitch, *w = before + pitch;
    double *spare = w + pitch, *far = r.cash + (size_t)scenario * r.paths;
    unsigned *counter = r.arrived + (size_t)scenario * COUNTER_PITCH, met = 0;
    /* At maturity waiting is worth nothing, so the polynomial is zero. */
    if (threadIdx.x < COEFFICIENTS) scratch.c[threadIdx.x] = 0;
    for (int p = mine, k = 0; p < r.paths && p < beyond; p += stride, k += THREADS) {
        cash[k] = 0;
        if (!STORED) w[k] = spare[k] = 0;
        here[k] = locate<STORED>(r, m, r.dates, p, w + k, spare + k);
        before[k] = locate<STORED>(r, m, r.dates - 1, p, w + k, spare + k);
    }
    for (int p = beyond; p < r.paths; p += stride) far[p] = 0;
    __syncthreads();

    for (int date = r.dates - 1;; date--) {
        /* Exercise on the date after this one, and this date's sums. */
        double sum[Shape<D>::padded] = {0};
        for (int p = mine, k = 0; p < r.paths && p < beyond; p += stride, k += THREADS) {
            const double x = before[k], flow = decide<D>(m, scratch.c, here[k], cash[k]);
            add<D>(m, date, x, flow, sum);
            cash[k] = flow;
            here[k] = x;
        }
        for (int p = beyond; p < r.paths; p += stride) {
            const double flow = decide<D>(m, scratch.c, position_of(r, m, date + 1, p), far[p]);
            add<D>(m, date, date ? position_of(r, m, date, p) : 0, flow, sum);
            far[p] = flow;
        }
        publish<D>(r, scenario, date, sum, &scratch);
        arrive(counter);
        if (date > 1)
            for (int p = mine, k = 0; p < r.paths && p < beyond; p += stride, k += THREADS)
                before[k] = locate<STORED>(r, m, date - 1, p, w + k, spare + k);
        await(counter, ++met * gridDim.x);
        if (date == 0) break;
        policy<D, PARTIAL>(r, scenario, date, &scratch);
    }
    if (blockIdx.x == 0) {
        gather(r, scenario, 0, 2, &scratch);
        if (threadIdx.x == 0) conclude(r, scenario, scratch.sum);
    }
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

enum Rung { THREE, TWO_ATOMIC, TWO, ONE, WHOLE, BRIDGE, RUNGS };

static Model model_of(const Option &o, int dates)
{
    double dt = o.maturity / dates;
    Model m = {o.spot / o.strike,       (o.rate - o.dividend - 0.5 * o.volatility * o.volatility) * dt,
               o.volatility * sqrt(dt), exp(-o.rate * dt),
               o.put ? -1.0 : 1.0,      o.strike};
    return m;
}

/* Makes a run and its arrays. All options have the same number of dates and the same paths. */
static Run create(const Option *option, int scenarios, int paths, int dates, int least, uint64_t seed)
{
    Run r = {};
    const size_t many = (size_t)scenarios;
    Model *host = (Model *)malloc(many * sizeof *host), *model;
    check(cudaDeviceGetAttribute(&r.processors, cudaDevAttrMultiProcessorCount, 0));
    r.paths = paths;
    r.dates = dates;
    r.scenarios = scenarios;
    r.blocks = (paths + THREADS - 1) / THREADS;
    if (r.blocks > 2 * r.processors) r.blocks = 2 * r.processors;
    r.least = least;
    r.seed = seed;
    for (int i = 0; i < scenarios; i++) host[i] = model_of(option[i], dates);
    check(cudaMalloc((void **)&model, many * sizeof *model));
    check(cudaMemcpy(model, host, many * sizeof *model, cudaMemcpyHostToDevice));
    free(host);
    r.model = model;
    check(cudaMalloc((void **)&r.w, (size_t)dates * paths * sizeof *r.w));
    check(cudaMalloc((void **)&r.cash, many * paths * sizeof *r.cash));
    check(cudaMalloc((void **)&r.partial, 2 * many * SUMS * r.blocks * sizeof *r.partial));
    check(cudaMalloc((void **)&r.sums, dates * many * SUMS * sizeof *r.sums));
    check(cudaMalloc((void **)&r.fitted, many * dates * COEFFICIENTS * sizeof *r.fitted));
    check(cudaMalloc((void **)&r.arrived, many * COUNTER_PITCH * sizeof *r.arrived));
    check(cudaMalloc((void **)&r.result, many * sizeof *r.result));
    return r;
}

static void destroy(Run *r)
{
    check(cudaFree((void *)r->model));
    check(cudaFree(r->w));
    check(cudaFree(r->cash));
    check(cudaFree(r->partial));
    check(cudaFree(r->sums));
    check(cudaFree(r->fitted));
    check(cudaFree(r->arrived));
    check(cudaFree(r->result));
}

/* Returns how many blocks with this much dynamic shared memory the GPU holds at a time. */
static int most_together(void (*kernel)(Run), int bytes)
{
    int processors = 1, blocks = 1;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
#ifndef SIMT_EMULATOR /* the emulator runs blocks one after another: a barrier of two would never open */
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, (size_t)bytes));
#endif
    return processors * blocks;
}

static cudaError_t launch_together(void (*kernel)(Run), dim3 grid, int bytes, cudaStream_t stream, Run r)
{
#ifdef SIMT_EMULATOR
    return trid_launch(kernel, grid, THREADS, (size_t)bytes, stream, r);
#else
    void *arguments[] = {&r};
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, THREADS, arguments, (size_t)bytes, stream);
#endif
}

/* Returns the dynamic shared memory of a block if a multiprocessor holds two. The rest is for Scratch and for CUDA. */
static int dynamic_bytes(void)
{
    int all = 228 * 1024;
#ifndef SIMT_EMULATOR
    check(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
#endif
    return all / 2 - 4096;
}

static int divide_up(int n, int by)
{
    return (n + by - 1) / by;
}

/* Launches a cooperative rung. Scenarios share the GPU evenly. If they are not all resident at once, several launches
   follow one another. Returns 0, and launches nothing, if bridge cannot hold that many paths. */
template <int D, bool STORED>
static int run_whole(Run r, cudaStream_t stream)
{
    static const int bytes = dynamic_bytes(), most = most_together(whole<D, STORED>, bytes);
    const int path_bytes = THREADS * Held<STORED>::words * (int)sizeof(double), most_held = bytes / path_bytes;
    const int needed = divide_up(r.paths, THREADS), least = STORED ? 1 : divide_up(needed, most_held);
    int blocks = most / r.scenarios < least ? least : most / r.scenarios;
    if (blocks > r.blocks) blocks = r.blocks;
    if (blocks < least || blocks > most) return 0;
    const int together = most / blocks;
    r.blocks = blocks;
    r.held = divide_up(needed, blocks);
    if (r.held > most_held) r.held = most_held;
    check(cudaMemsetAsync(r.arrived, 0, (size_t)r.scenarios * COUNTER_PITCH * sizeof *r.arrived, stream));
    for (; r.first < r.scenarios; r.first += together) {
        const int left = r.scenarios - r.first;
        const dim3 grid((unsigned)blocks, (unsigned)(left < together ? left : together));
        check(launch_together(whole<D, STORED>, grid, r.held * path_bytes, stream, r));
    }
    return 1;
}

/* Enqueues a run, which draws its paths first. Waits for nothing. Returns 0 if the rung cannot hold that many paths. */
template <int D>
static int run_of_degree(Rung rung, Run r, cudaStream_t stream)
{
    const int share = 3 * r.processors / r.scenarios; /* a scenario's share, at three blocks a multiprocessor */
    if (rung == BRIDGE) return run_whole<D, false>(r, stream);
    if (!r.given) check(trid_launch(draw_paths<0>, (unsigned)r.blocks, THREADS, 0, stream, r));
    if (rung == WHOLE) return run_whole<D, true>(r, stream);
    /* In a batch a scenario gets fewer blocks with more paths each, since every block computes the polynomial. */
    if (r.blocks > share) r.blocks = share > 1 ? share : 1;
    const dim3 grid((unsigned)r.blocks, (unsigned)r.scenarios), column(1, (unsigned)r.scenarios);
    if (rung == TWO_ATOMIC)
        check(cudaMemsetAsync(r.sums, 0, (size_t)r.dates * r.scenarios * SUMS * sizeof *r.sums, stream));
    check(trid_launch(mature<0>, grid, THREADS, 0, stream, r));
    if (rung == ONE) check(trid_launch(moments<D, PARTIAL>, grid, THREADS, 0, stream, r, r.dates - 1));
    for (int date = r.dates - 1; date >= 1; date--) {
        if (rung == ONE) {
            check(trid_launch(step<D>, grid, THREADS, 0, stream, r, date));
        } else if (rung == TWO_ATOMIC) {
            check(trid_launch(moments<D, SUMMED>, grid, THREADS, 0, stream, r, date));
            check(trid_launch(exercise<D, SUMMED>, grid, THREADS, 0, stream, r, date));
        } else {
            check(trid_launch(moments<D, PARTIAL>, grid, THREADS, 0, stream, r, date));
            if (rung == THREE) check(trid_launch(regress<D>, column, THREADS, 0, stream, r, date));
            check(trid_launch(rung == THREE ? exercise<D, FITTED> : exercise<D, PARTIAL>, grid, THREADS, 0, stream, r,
                              date));
        }
    }
    if (rung == TWO_ATOMIC)
        check(trid_launch(moments<D, SUMMED>, grid, THREADS, 0, stream, r, 0));
    else if (rung != ONE)
        check(trid_launch(moments<D, PARTIAL>, grid, THREADS, 0, stream, r, 0));
    check(trid_launch(rung == TWO_ATOMIC ? finish<SUMMED> : finish<PARTIAL>, column, THREADS, 0, stream, r));
    return 1;
}

static int run(Rung rung, int degree, const Run &r, cudaStream_t stream)
{
    return degree == 2   ? run_of_degree<2>(rung, r, stream)
           : degree == 3 ? run_of_degree<3>(rung, r, stream)
                         : run_of_degree<4>(rung, r, stream);
}

/* After a run: prices the same options by the second pass, into r.result. */
static void run_second(int degree, const Run &r, cudaStream_t stream)
{
    const dim3 grid((unsigned)r.blocks, (unsigned)r.scenarios), column(1, (unsigned)r.scenarios);
    check(trid_launch(degree == 2   ? second_pass<2>
                      : degree == 3 ? second_pass<3>
                                    : second_pass<4>,
                      grid, THREADS, 0, stream, r));
    check(trid_launch(finish<PARTIAL>, column, THREADS, 0, stream, r));
}

static void results(const Run &r, Result *to)
{
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(to, r.result, (size_t)r.scenarios * sizeof *to, cudaMemcpyDeviceToHost));
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

#ifndef LSMC_NO_MAIN

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown flags"
#endif

enum { RUNS = 9, SEED = 1, MOST_SCENARIOS = 64 };
enum {
    LADDER_PATHS = 32768,
    LADDER_DATES = 100,
    KNOWN_PATHS = 1 << 20,
    KNOWN_DATES = 50 /* a year */,
    KNOWN_DEGREE = 3
};

/* Puts with strike 40 and rate 0.06: the price with exercise on 50 dates a year, by quadrature from date to date, and
   the price with exercise at any time, extrapolated from 50, 100, .., 800 dates a year. */
static const struct {
    Option option;
    double bermudan, american;
} known[] = {{{36, 40, 0.06, 0, 0.2, 1, 1}, 4.477811, 4.486674},
             {{36, 40, 0.06, 0, 0.4, 2, 1}, 8.506783, 8.514186},
             {{40, 40, 0.06, 0, 0.2, 1, 1}, 2.314068, 2.319574},
             {{44, 40, 0.06, 0, 0.4, 2, 1}, 5.641236, 5.646732}};
enum { KNOWN = sizeof known / sizeof *known };

static int bad; /* how many prices were off */

static void outside(double got, double low, double high, const char *what)
{
    if (low <= got && got <= high) return;
    fprintf(stderr, "%s: %.15g is not between %.15g and %.15g\n", what, got, low, high);
    bad++;
}

static void off(double got, double want, double within, const char *what)
{
    outside(got, want - within, want + within, what);
}

/* Makes the scenarios of a batch: the first known put, then the same put with spots a little apart. */
static void spread(Option *option, int scenarios)
{
    for (int i = 0; i < scenarios; i++) {
        option[i] = known[0].option;
        option[i].spot += 0.125 * i;
    }
}

#ifdef SIMT_EMULATOR

static const char *const rung_name[RUNGS] = {"three", "two_atomic", "two", "one", "whole", "bridge"};

/* Tries every rung but the graphs, which need a GPU, on a few paths: all must agree. */
static int small_check(void)
{
    enum { SCENARIOS = 3, PATHS = 1000, DATES = 8, DEGREE = 3 };
    Option option[SCENARIOS];
    Result first[SCENARIOS] = {}, result[SCENARIOS];
    spread(option, SCENARIOS);
    printf("emulated: no times, no graphs, and a cooperative kernel has one block; the rest needs a GPU\n");
    for (int rung = 0; rung < RUNGS; rung++) {
        Run r = create(option, SCENARIOS, PATHS, DATES, DEGREE + 2, SEED);
        if (!run((Rung)rung, DEGREE, r, 0)) bad++;
        results(r, result);
        if (rung == 0) memcpy(first, result, sizeof first);
        printf("%-11s", rung_name[rung]);
        for (int i = 0; i < SCENARIOS; i++) {
            off(result[i].price, first[i].price, 1e-12 * first[i].price, rung_name[rung]);
            printf("  %.12f +- %.4f", result[i].price, result[i].error);
        }
        printf("\n");
        if (rung == BRIDGE) {
            run_second(DEGREE, r, 0);
            results(r, result);
            printf("second_pass");
            for (int i = 0; i < SCENARIOS; i++) printf("  %.12f +- %.4f", result[i].price, result[i].error);
            printf("\n");
        }
        destroy(&r);
    }
    return bad ? 1 : 0;
}

int main(void)
{
    return small_check();
}

#else

/* ---- output ------------------------------------------------------------------------------------------------------ */

/* A row of the output. A CSV field is empty if the value is NAN, or if it is a degree, paths or dates of 0.
   part: ladder, known or greeks. */
struct Row {
    const char *part, *method, *stream;
    int scenarios, degree;
    Option option;
    int paths, dates;
    double median, least; /* ms */
    Result result;
    double exact, greek[4]; /* delta, gamma, vega, rho */
};

static Row row_of(const char *part, const char *method, const Option &option)
{
    Row row = {part, method, "user", 1, 0, option, 0, 0, NAN, NAN, {NAN, NAN}, NAN, {NAN, NAN, NAN, NAN}};
    return row;
}

static FILE *csv;
static int table = 1;

static void field(double value, const char *format)
{
    fprintf(csv, ",");
    if (!isnan(value)) fprintf(csv, format, value);
}

static void print_row(const Row &row)
{
    const double nothing = NAN, each = row.dates ? 1e3 * row.median / row.dates : nothing;
    const double percent = 100 * (row.result.price / row.exact - 1);
    if (csv) {
        fprintf(csv, "%s,%s,%s,%d", row.part, row.method, row.stream, row.scenarios);
        field(row.degree ? row.degree : nothing, "%g");
        field(row.option.spot, "%g");
        field(row.option.volatility, "%g");
        field(row.option.maturity, "%g");
        field(row.paths ? row.paths : nothing, "%.0f");
        field(row.dates ? row.dates : nothing, "%.0f");
        field(row.median, "%.4f");
        field(row.least, "%.4f");
        field(each, "%.3f");
        field(row.result.price, "%.6f");
        field(row.result.error, "%.6f");
        field(row.exact, "%.6f");
        field(percent, "%.3f");
        for (int i = 0; i < 4; i++) field(row.greek[i], "%.5f");
        fprintf(csv, "\n");
    }
    if (table) {
        printf("%-7s %-11s %-7s %3d  S %-5g v %-4g T %g %8d x %-4d %9.4f ms %8.3f us/date  %.6f", row.part, row.method,
               row.stream, row.scenarios, row.option.spot, row.option.volatility, row.option.maturity, row.paths,
               row.dates, row.median, each, row.result.price);
        if (!isnan(row.result.error)) printf(" +- %.6f", row.result.error);
        if (!isnan(row.exact)) printf("  exact %.6f, %.3f %%", row.exact, percent);
        if (!isnan(row.greek[0]))
            printf("  %.5f %.5f %.5f %.5f", row.greek[0], row.greek[1], row.greek[2], row.greek[3]);
        printf("\n");
    }
}

static void heading(void)
{
    char date[32];
    time_t now = time(NULL);
    cudaDeviceProp device;
    int driver;
    FILE *const to[2] = {table ? stdout : NULL, csv};
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaDriverGetVersion(&driver));
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    for (int i = 0; i < 2; i++)
        if (to[i])
            fprintf(to[i], "# %s, CUDA driver %d.%d, nvcc %d.%d.%d, %s, %s\n", device.name, driver / 1000,
                    driver % 100 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__, BENCH_FLAGS,
                    date);
    if (csv)
        fprintf(csv, "part,method,stream,scenarios,degree,spot,volatility,maturity,paths,dates,ms_median,ms_min,"
                     "us_per_date,price,std_error,exact,error_pct,delta,gamma,vega,rho\n");
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

static int ascending(const void *p, const void *q)
{
    return (*(const float *)p > *(const float *)q) - (*(const float *)p < *(const float *)q);
}

/* Times RUNS runs after a warm-up; work enqueues a run, or returns 0 if it cannot. */
template <class Work>
static int time_of(cudaStream_t stream, double *median, double *least, Work work)
{
    float ms[RUNS];
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    int done = work();
    for (int i = 0; done && i < RUNS; i++) {
        check(cudaStreamSynchronize(stream));
        check(cudaEventRecord(start, stream));
        work();
        check(cudaEventRecord(stop, stream));
        check(cudaEventSynchronize(stop));
        check(cudaEventElapsedTime(&ms[i], start, stop));
    }
    check(cudaStreamSynchronize(stream));
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    if (!done) return 0;
    qsort(ms, RUNS, sizeof ms[0], ascending);
    *median = ms[RUNS / 2];
    *least = ms[0];
    return 1;
}

/* Returns a graph of the kernels of a rung. Only its launch is timed: a program makes a graph once, and launches it
   after each change of the options, which the kernels read from device memory. */
static cudaGraphExec_t graph_of(Rung rung, int degree, const Run &r, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t made;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    run(rung, degree, r, stream);
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiateWithFlags(&made, graph, 0));
    check(cudaGraphDestroy(graph));
    return made;
}

/* ---- the three parts --------------------------------------------------------------------------------------------- */

/* Times every rung with batches of 1, 2, 4, ..; with one option also in the default stream. */
static void ladder(cudaStream_t user)
{
    static const struct {
        const char *name;
        Rung rung;
        int graph, degree;
    } rungs[] = {{"three", THREE, 0, 2}, {"two_atomic", TWO_ATOMIC, 0, 2}, {"two", TWO, 0, 2},
                 {"one", ONE, 0, 2},     {"graph_two", TWO, 1, 2},         {"graph_one", ONE, 1, 2},
                 {"whole", WHOLE, 0, 2}, {"bridge", BRIDGE, 0, 2},         {"whole", WHOLE, 0, 3},
                 {"whole", WHOLE, 0, 4}, {"bridge", BRIDGE, 0, 3},         {"bridge", BRIDGE, 0, 4}};
    Option option[MOST_SCENARIOS];
    Result result[MOST_SCENARIOS];
    double want[MOST_SCENARIOS][MAX_DEGREE + 1] = {};
    spread(option, MOST_SCENARIOS);
    for (int scenarios = 1; scenarios <= MOST_SCENARIOS; scenarios *= 2) {
        for (const auto &rung : rungs) {
            for (int by_default = 0; by_default < (scenarios == 1 ? 2 : 1); by_default++) {
                cudaStream_t stream = by_default ? 0 : user;
                Run r = create(option, scenarios, LADDER_PATHS, LADDER_DATES, rung.degree + 2, SEED);
                Row row = row_of("ladder", rung.name, option[0]);
                cudaGraphExec_t graph = rung.graph ? graph_of(rung.rung, rung.degree, r, user) : NULL;
                int done = time_of(stream, &row.median, &row.least, [&] {
                    if (!graph) return run(rung.rung, rung.degree, r, stream);
                    check(cudaGraphLaunch(graph, stream));
                    return 1;
                });
                if (graph) check(cudaGraphExecDestroy(graph));
                results(r, result);
                destroy(&r);
                if (!done) continue;
                row.stream = by_default ? "default" : "user";
                row.scenarios = scenarios;
                row.degree = rung.degree;
                row.paths = LADDER_PATHS;
                row.dates = LADDER_DATES;
                row.result = result[0];
                print_row(row);
                for (int i = 0; i < scenarios; i++) { /* all rungs agree, in batches and alone */
                    double *same = &want[i][rung.degree];
                    if (*same == 0) *same = result[i].price;
                    off(result[i].price, *same, 1e-12 * *same, rung.name);
                }
            }
        }
    }
}

enum { MARCH_POINTS = 1024, MARCH_STEPS = 1000 /* a year */, MOST_MARCHES = 64 };

/* Prices by bs1d.h's American march; times one launch for all options. */
static void march(const Option *option, int count, cudaStream_t stream, bs1d_result_f64 *result, double *median,
                  double *least)
{
    bs1d_option_f64 host[MOST_MARCHES] = {}, *device;
    bs1d_result_f64 *out;
    for (int i = 0; i < count; i++) {
        host[i].spot = option[i].spot;
        host[i].strike = option[i].strike;
        host[i].rate = option[i].rate;
        host[i].dividend = option[i].dividend;
        host[i].volatility = option[i].volatility;
        host[i].maturity = option[i].maturity;
        host[i].top = 4 * option[i].strike;
        host[i].steps = (long long)(MARCH_STEPS * option[i].maturity);
        host[i].flags = BS1D_AMERICAN | (option[i].put ? BS1D_PUT : BS1D_CALL);
    }
    check(cudaMalloc((void **)&device, (size_t)count * sizeof *device));
    check(cudaMalloc((void **)&out, (size_t)count * sizeof *out));
    check(cudaMemcpy(device, host, (size_t)count * sizeof *device, cudaMemcpyHostToDevice));
    time_of(stream, median, least, [&] {
        int status = bs1d_implicit4_f64(count, MARCH_POINTS, device, out, NULL, stream);
        if (status != BS1D_OK) fprintf(stderr, "%s\n", bs1d_status_string(status)), exit(1);
        return 1;
    });
    check(cudaMemcpy(result, out, (size_t)count * sizeof *out, cudaMemcpyDeviceToHost));
    check(cudaFree(device));
    check(cudaFree(out));
    for (int i = 0; i < count; i++)
        if (result[i].status != BS1D_OK)
            fprintf(stderr, "bs1d: %s\n", bs1d_status_string((int)result[i].status)), exit(1);
}

/* Prices the four puts with few and with many paths, by the second pass, and by finite differences. */
static void four_puts(cudaStream_t stream)
{
    static const int path_counts[] = {LADDER_PATHS, KNOWN_PATHS};
    for (const auto &it : known) {
        const int dates = (int)(KNOWN_DATES * it.option.maturity);
        for (int paths : path_counts) {
            for (int degree = 2; degree <= MAX_DEGREE; degree++) {
                if (paths != KNOWN_PATHS && degree != KNOWN_DEGREE) continue;
                Run r = create(&it.option, 1, paths, dates, degree + 2, SEED);
                Row row = row_of("known", "whole", it.option);
                row.degree = degree;
                row.paths = paths;
                row.dates = dates;
                row.exact = it.bermudan;
                time_of(stream, &row.median, &row.least, [&] { return run(WHOLE, degree, r, stream); });
                results(r, &row.result);
                print_row(row);
                /* With degree 2 the price is low by slightly more than 0.3 %, with a higher degree by less. */
                const double low = (degree == 2 ? 0.995 : 0.997) * it.bermudan;
                const double chance = paths == KNOWN_PATHS && degree == KNOWN_DEGREE ? 0 : 3 * row.result.error;
                outside(row.result.price, low - chance, it.bermudan + 3 * row.result.error, "whole");
                row.method = "second_pass";
                time_of(stream, &row.median, &row.least, [&] { return run_second(degree, r, stream), 1; });
                results(r, &row.result);
                print_row(row);
                outside(row.result.price, low - 3 * row.result.error, it.bermudan + 3 * row.result.error, row.method);
                destroy(&r);
            }
        }
        bs1d_result_f64 result;
        Row row = row_of("known", "bs1d", it.option);
        march(&it.option, 1, stream, &result, &row.median, &row.least);
        row.result.price = result.price;
        row.exact = it.american;
        print_row(row);
        off(result.price, it.american, 5e-4 * it.american, "bs1d");
    }
}

/* Computes the Greeks of a list of options: seven scenarios each, all in one batch on the same paths. */
static void greeks(cudaStream_t stream)
{
    enum { BUMPS = 7, COUNT = KNOWN * BUMPS, DATES = 100, DEGREE = 3, PATHS = 1 << 17 };
    static const double spot_bump = 0.04 /* of the spot */, volatility_bump = 0.01, rate_bump = 0.01;
    Option option[COUNT];
    Result result[COUNT];
    bs1d_result_f64 marched[COUNT];
    double median[2], least[2];
    for (int i = 0; i < COUNT; i++) {
        const double side = i % BUMPS % 2 ? 1 : -1;
        const int kind = (i % BUMPS + 1) / 2; /* 0: unchanged; 1: spot; 2: volatility; 3: rate */
        option[i] = known[i / BUMPS].option;
        if (kind == 1) option[i].spot *= 1 + side * spot_bump;
        if (kind == 2) option[i].volatility += side * volatility_bump;
        if (kind == 3) option[i].rate += side * rate_bump;
    }
    Run r = create(option, COUNT, PATHS, DATES, DEGREE + 2, SEED);
    time_of(stream, &median[0], &least[0], [&] { return run(WHOLE, DEGREE, r, stream); });
    results(r, result);
    destroy(&r);
    march(option, COUNT, stream, marched, &median[1], &least[1]);
    for (int method = 0; method < 2; method++) {
        for (int k = 0; k < KNOWN; k++) {
            double v[BUMPS], h = spot_bump * known[k].option.spot;
            for (int i = 0; i < BUMPS; i++) v[i] = method ? marched[k * BUMPS + i].price : result[k * BUMPS + i].price;
            Row row = row_of("greeks", method ? "bs1d" : "whole", known[k].option);
            row.scenarios = COUNT;
            row.median = median[method];
            row.least = least[method];
            if (!method) {
                row.degree = DEGREE;
                row.paths = PATHS;
                row.dates = DATES;
                row.result.error = result[k * BUMPS].error;
            }
            row.result.price = v[0];
            row.greek[0] = (v[1] - v[2]) / (2 * h);
            row.greek[1] = (v[1] - 2 * v[0] + v[2]) / (h * h);
            row.greek[2] = (v[3] - v[4]) / (2 * volatility_bump);
            row.greek[3] = (v[5] - v[6]) / (2 * rate_bump);
            print_row(row);
        }
    }
}

int main(int argc, char **argv)
{
    int devices = 0;
    cudaStream_t stream;
    if (argc > 3 || (argc > 1 && strcmp(argv[1], "--csv"))) {
        fprintf(stderr, "usage: american_lsmc [--csv [FILE]]\n");
        return 2;
    }
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "american_lsmc: no GPU\n");
        return 3;
    }
    if (argc == 2) csv = stdout, table = 0;
    if (argc == 3 && !(csv = fopen(argv[2], "w"))) {
        perror(argv[2]);
        return 2;
    }
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    heading();
    ladder(stream);
    four_puts(stream);
    greeks(stream);
    check(cudaStreamDestroy(stream));
    if (csv && csv != stdout && fclose(csv)) {
        perror(argv[2]);
        return 1;
    }
    return bad ? 1 : 0;
}

#endif /* on a GPU */
#endif /* LSMC_NO_MAIN */
