/* gpus_march.h - a march of bs3d.h over several GPUs, watched and measured, for the rows of bench/bs3d_gpus.cu.
   MIT licence, see LICENSE. */
#ifndef GPUS_MARCH_H
#define GPUS_MARCH_H

#include "../bs3d.h"

#include "../examples/bs3d_exchange.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LAP = 16 }; /* steps, or exchanges, between two times at which the host waits for the GPUs */
#ifdef SIMT_EMULATOR
enum { is_gpu = 0 }; /* its speed is not worth printing */
#else
enum { is_gpu = 1 };
#endif

/* ---- what ends the program --------------------------------------------------------------------------------------- */

static double timeout_seconds = 30;
static char doing[200] = "starting"; /* what the program is doing, for messages */

static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "bs3d_gpus: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
#ifdef BS3D_GPUS_MPI
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    _exit(1); /* does not wait for the GPUs, which may hang */
}

static void check(cudaError_t error)
{
    if (error != cudaSuccess) die("CUDA, %s: %s", doing, cudaGetErrorString(error));
}

static void done(int status)
{
    if (status) die("%s: %s", doing, exchange_string(status));
}

/* Ends the program if a call to NCCL or MPI does not return, because its peer is gone. */
static void on_alarm(int)
{
    const char text[] = "bs3d_gpus: no progress, a peer may be lost; while ";
    ssize_t ignored = write(2, text, sizeof text - 1);
    ignored = write(2, doing, strlen(doing));
    ignored = write(2, "\n", 1);
    (void)ignored;
#ifdef BS3D_GPUS_MPI
    signal(SIGALRM, SIG_DFL); /* ends this process if MPI hangs as well */
    alarm(5);
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    _exit(1);
}

/* Notes progress: the time until the next begins anew. */
static void moving(void)
{
    alarm((unsigned)ceil(timeout_seconds) + 5);
}

/* Notes what the program does from now on, which counts as progress. */
static void now_doing(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(doing, sizeof doing, format, arguments);
    va_end(arguments);
    moving();
}

/* Notes what each rank does by itself from now on, without a time limit: no lost peer can hold it up. */
static void now_alone(const char *what)
{
    snprintf(doing, sizeof doing, "%s", what);
    alarm(0);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- ranks, and their clocks ------------------------------------------------------------------------------------- */

struct Clock {
    cudaEvent_t laps[2], start, stop;
};

struct World {
    Exchange exchange;
    int by; /* EXCHANGE_... */
    Clock clock[MOST_RANKS];
};

static int ranks_of(const World *w)
{
    return w->exchange.ranks.ranks;
}

static int count_of(const World *w)
{
    return w->exchange.ranks.count;
}

/* Makes the device of a rank here the current one. */
static const bs3d_rank *here(const World *w, int i)
{
    check(cudaSetDevice(w->exchange.local[i].device));
    return w->exchange.local + i;
}

/* Opens a world of `ranks` ranks on `gpus` GPUs. If there are several processes, each has one rank. */
static void open_world(World *w, int ranks, int gpus, int by)
{
    now_doing("opening %d ranks", ranks);
    w->by = by;
    done(exchange_open(&w->exchange, ranks, gpus, by));
    for (int i = 0; i < count_of(w); i++) {
        Clock *clock = w->clock + i;
        here(w, i);
        for (cudaEvent_t &lap : clock->laps) check(cudaEventCreateWithFlags(&lap, cudaEventDisableTiming));
        check(cudaEventCreate(&clock->start));
        check(cudaEventCreate(&clock->stop));
    }
}

static void close_world(World *w)
{
    for (int i = 0; i < count_of(w); i++) {
        const Clock *clock = w->clock + i;
        here(w, i);
        for (cudaEvent_t event : {clock->laps[0], clock->laps[1], clock->start, clock->stop})
            check(cudaEventDestroy(event));
    }
    done(exchange_close(&w->exchange));
}

/* Waits for an event of a rank, and checks meanwhile whether it can still occur. Its occurrence counts as progress. */
static void await(World *w, cudaEvent_t event)
{
    const double since = seconds();
    for (;;) {
        cudaError_t error = cudaEventQuery(event);
        if (error == cudaSuccess) return moving();
#ifndef SIMT_EMULATOR
        if (error != cudaErrorNotReady) check(error);
#else
        check(error);
#endif
#ifdef BS3D_GPUS_NCCL
        for (int i = 0; i < count_of(w) && w->by == EXCHANGE_NCCL; i++) {
            ncclResult_t state, asked = ncclCommGetAsyncError(w->exchange.comm[i], &state);
            done(nccl_status(asked));
            if (state != ncclInProgress) done(nccl_status(state));
        }
#endif
        (void)w;
        if (seconds() - since > timeout_seconds)
            die("%s: nothing has moved for %g s, a peer may be lost", doing, timeout_seconds);
        usleep(20);
    }
}

/* Returns the largest of all processes' numbers, none of which is negative; `own` is this process's. */
static double largest_of(World *w, double own)
{
    const bs3d_exchange *by = &w->exchange.ranks.exchange;
    double numbers[MOST_RANKS] = {0}, most = 0;
    numbers[w->exchange.local->rank] = own;
    if (by->sum) done(by->sum(by->context, numbers, MOST_RANKS));
    for (double number : numbers) most = trid_larger_f64(most, number);
    return most;
}

/* ---- bs3d.h by precision ----------------------------------------------------------------------------------------- */

struct Single {
    typedef float Real;
    typedef bs3d_slab_march_f32 Slab;
    typedef bs3d_ranks_march_f32 March;
    enum { is_double = 0 };
    static const char *name(void) { return "f32"; }
    static size_t whole_bytes(const bs3d_problem *o) { return bs3d_work_bytes_f32(o); }
    static int whole(const bs3d_problem *o, int implicit, void *work, bs3d_result *result, cudaStream_t stream)
    {
        return implicit ? bs3d_implicit2_f32(o, work, result, stream) : bs3d_explicit4_f32(o, work, result, stream);
    }
};

struct Double {
    typedef double Real;
    typedef bs3d_slab_march_f64 Slab;
    typedef bs3d_ranks_march_f64 March;
    enum { is_double = 1 };
    static const char *name(void) { return "f64"; }
    static size_t whole_bytes(const bs3d_problem *o) { return bs3d_work_bytes_f64(o); }
    static int whole(const bs3d_problem *o, int implicit, void *work, bs3d_result *result, cudaStream_t stream)
    {
        return implicit ? bs3d_implicit2_f64(o, work, result, stream) : bs3d_explicit4_f64(o, work, result, stream);
    }
};

/* ---- the march --------------------------------------------------------------------------------------------------- */

/* Returns the problem: a call on the geometric average of three assets. ADI steps are 1/2000 year long. Explicit steps
   are 1/10000 year long with at most 256 points an axis, and shorter with more. */
static bs3d_problem model_problem(int implicit, const int *points, int steps)
{
    int most = 256;
    for (int axis = 0; axis < 3 && !implicit; axis++)
        if (points[axis] > most) most = points[axis];
    const double finer = (most - 1) / 255., step = implicit ? 0.0005 : 0.0001 / (finer * finer);
    const bs3d_problem problem = {{100, 100, 100},
                                  {200, 200, 200},
                                  {0.2, 0.2, 0.2},
                                  {0, 0, 0},
                                  {0.5, 0.5, 0.5},
                                  100,
                                  0.05,
                                  step * steps,
                                  {points[0], points[1], points[2]},
                                  steps,
                                  BS3D_GEOMETRIC,
                                  0};
    return problem;
}

/* The simulated loss of a rank: from step `from` on the last rank sends nothing, while the others wait for it; 0: it
   always sends. */
static struct {
    int from;
    const int *step;
    const World *world;
    bs3d_exchange whole;
} lost;

static int message_unless_lost(void *context, const bs3d_rank *r, int peer, int n, const bs3d_message *m)
{
    if (*lost.step >= lost.from && r->rank == ranks_of(lost.world) - 1) return 0;
    return lost.whole.message(context, r, peer, n, m);
}

template <class Kit>
struct Marching {
    World *world;
    bs3d_ranks ranks; /* the world's, except that the exchange may differ */
    bs3d_problem problem;
    typename Kit::March march;
    typename Kit::Slab slabs[MOST_RANKS];
    void *work[MOST_RANKS];
    int laps;
    double told; /* when progress was last printed; 0: it is not printed */
};

template <class Kit>
static void open_march(Marching<Kit> *m, World *w, const bs3d_problem *problem, const bs3d_ranks_options *options)
{
    m->world = w;
    m->ranks = w->exchange.ranks;
    m->problem = *problem;
    if (lost.from) {
        lost.step = &m->march.step;
        lost.world = w;
        lost.whole = m->ranks.exchange;
        m->ranks.exchange.message = message_unless_lost;
    }
    now_doing("opening a march on %d slabs", ranks_of(w));
    done(bs3d_ranks_plan(&m->ranks, problem, options, m->slabs, &m->march));
    for (int i = 0; i < count_of(w); i++) {
        here(w, i);
        check(cudaMalloc(m->work + i, bs3d_ranks_bytes(&m->march, i)));
    }
    done(bs3d_ranks_open(&m->march, m->work));
}

template <class Kit>
static void close_march(Marching<Kit> *m)
{
    for (int i = 0; i < count_of(m->world); i++) {
        here(m->world, i);
        check(cudaFree(m->work[i]));
    }
}

/* Ends a lap: waits until the GPUs have finished the lap before it, so that the host is at most two laps ahead. If the
   march prints its progress, prints the step at most every two seconds. */
template <class Kit>
static void lap(Marching<Kit> *m)
{
    World *w = m->world;
    const int number = m->laps++;
    for (int i = 0; i < count_of(w); i++) check(cudaEventRecord(w->clock[i].laps[number % 2], here(w, i)->march));
    for (int i = 0; i < count_of(w) && number > 0; i++) {
        here(w, i);
        await(w, w->clock[i].laps[(number + 1) % 2]);
    }
    if (m->told > 0 && w->exchange.local->rank == 0 && seconds() - m->told > 2) {
        fprintf(stderr, "step %d of %d\n", m->march.step, m->problem.steps);
        m->told = seconds();
    }
}

/* Returns the milliseconds that the work enqueued by `work` takes on the slowest of this process's ranks, which start
   at the same time. */
template <class Kit, class Work>
static double milliseconds(Marching<Kit> *m, Work work)
{
    World *w = m->world;
    double most = 0;
    m->laps = 0;
    for (int i = 0; i < count_of(w); i++) check(cudaStreamSynchronize(here(w, i)->march));
    for (int i = 0; i < count_of(w); i++) check(cudaEventRecord(w->clock[i].start, here(w, i)->march));
    work();
    for (int i = 0; i < count_of(w); i++) check(cudaEventRecord(w->clock[i].stop, here(w, i)->march));
    for (int i = 0; i < count_of(w); i++) {
        float ms = 0;
        here(w, i);
        await(w, w->clock[i].stop);
        check(cudaEventElapsedTime(&ms, w->clock[i].start, w->clock[i].stop));
        if (ms > most) most = ms;
    }
    return most;
}

/* Takes steps of a march until `until` have been taken. Returns the milliseconds. */
template <class Kit>
static double march(Marching<Kit> *m, int until)
{
    int next_lap = m->march.step + LAP;
    return milliseconds(m, [&] {
        while (m->march.step < until) {
            now_doing("at step %d of %d", m->march.step, m->problem.steps);
            done(bs3d_ranks_step(&m->march));
            if (m->march.step >= next_lap) lap(m), next_lap += LAP;
        }
    });
}

/* Sends a step's messages again and again, `exchanges` times, and does nothing else. Returns the milliseconds. */
template <class Kit>
static double send(Marching<Kit> *m, int exchanges)
{
    return milliseconds(m, [&] {
        for (int n = 1; n <= exchanges; n++) {
            now_doing("at exchange %d of %d", n, exchanges);
            done(bs3d_ranks_send(&m->march));
            done(bs3d_ranks_arrive(&m->march));
            if (n % LAP == 0) lap(m);
        }
    });
}

/* ---- against one GPU --------------------------------------------------------------------------------------------- */

enum { BLOCKS = is_gpu ? 512 : 2, THREADS = 256 };

/* Finds the largest difference between a and b and the largest magnitude in b, within each block's share. NaN counts as
   larger than any number. */
template <class Real>
static __global__ void largest(size_t count, const Real *a, const Real *b, double *differences, double *values)
{
    __shared__ double most[2][THREADS];
    const int thread = (int)threadIdx.x;
    most[0][thread] = most[1][thread] = 0;
    for (size_t n = blockIdx.x * (size_t)THREADS + threadIdx.x; n < count; n += (size_t)BLOCKS * THREADS) {
        double difference = fabs((double)a[n] - (double)b[n]), value = fabs((double)b[n]);
        most[0][thread] = trid_larger_f64(most[0][thread], difference);
        most[1][thread] = trid_larger_f64(most[1][thread], value);
    }
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int e = 0; e < 2 && thread < half; e++)
            most[e][thread] = trid_larger_f64(most[e][thread], most[e][thread + half]);
    }
    if (thread == 0) {
        differences[blockIdx.x] = most[0][0];
        values[blockIdx.x] = most[1][0];
    }
}

static double not_compared(const bs3d_rank *r, const char *why)
{
    fprintf(stderr, "bs3d_gpus: rank %d is not compared with one GPU's march of the whole grid: %s\n", r->rank, why);
    return -1;
}

/* Raises most[0] to the largest difference between a slab of this process and the values in `grid`, and most[1] to the
   largest magnitude of these values. */
template <class Kit>
static void compare_slab(const Marching<Kit> *m, int i, const void *grid, double *most)
{
    typedef typename Kit::Real Real;
    const cudaStream_t stream = here(m->world, i)->march;
    const typename Kit::Slab *slab = m->slabs + i;
    const size_t plane = (size_t)slab->job.plan.plane;
    double *found, blocks[2 * BLOCKS];
    check(cudaMalloc(&found, sizeof blocks));
    check(trid_launch(largest<Real>, BLOCKS, THREADS, 0, stream, plane * (size_t)slab->cut.planes,
                      slab->job.u + plane * (size_t)slab->cut.below,
                      (const Real *)grid + plane * (size_t)slab->cut.first, found, found + BLOCKS));
    check(cudaMemcpyAsync(blocks, found, sizeof blocks, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    for (int n = 0; n < 2 * BLOCKS; n++) most[n / BLOCKS] = trid_larger_f64(most[n / BLOCKS], blocks[n]);
    check(cudaFree(found));
}

/* Compares with bs3d.h's own march of the whole grid on one GPU. Returns the larger of two differences: that of this
   process's slabs, as a share of the largest value, and that of the price, as a share of the strike. Returns -1 if the
   grid does not fit one GPU. */
template <class Kit>
static double difference(Marching<Kit> *m, double price)
{
    World *w = m->world;
    const int implicit = m->march.options.implicit;
    const int status = bs3d_check(&m->problem, implicit); /* there may be too many planes for one GPU */
    double most[2] = {0, 0};
    void *grid = NULL; /* computed once for consecutive slabs on the same device */
    bs3d_result result = {};
    if (status) return not_compared(w->exchange.local, bs3d_status_string(status));
    now_alone("marching the whole grid for comparison");
    for (int i = 0; i < count_of(w); i++) {
        const bs3d_rank *r = here(w, i);
        if (!grid) {
            if (cudaMalloc(&grid, Kit::whole_bytes(&m->problem)) != cudaSuccess) {
                cudaGetLastError();
                return not_compared(r, "no room");
            }
            done(Kit::whole(&m->problem, implicit, grid, &result, r->march));
        }
        compare_slab(m, i, grid, most);
        if (i + 1 < count_of(w) && r[1].device == r->device) continue;
        check(cudaFree(grid));
        grid = NULL;
    }
    return trid_larger_f64(most[0] / most[1], fabs(result.price - price) / m->problem.strike);
}

/* ---- one march, measured ----------------------------------------------------------------------------------------- */

/* A row of the table; unknown numbers are negative. */
struct Row {
    const char *scaling, *engine, *precision;
    int gpus, slabs, deep, steps;
    int unchecked; /* whether a comparison was requested but impossible */
    int points[3];
    const char *by;
    double ms, speedup, bytes, ms_messages, ms_alone, value, difference;
};

/* Returns the bytes per step that the rank of this process that sends most sends. */
template <class Kit>
static double bytes_sent(const Marching<Kit> *m)
{
    double most = 0;
    for (int i = 0; i < count_of(m->world); i++) {
        double sum = 0;
        for (int peer = 0; peer < ranks_of(m->world); peer++) {
            bs3d_message messages[2];
            int count = bs3d_slab_messages(m->slabs + i, peer, messages);
            for (int n = 0; n < count; n++) sum += (double)messages[n].bytes;
        }
        if (sum > most) most = sum;
    }
    return most * m->march.exchanges / m->march.step;
}

static int ascending(const void *p, const void *q)
{
    return (*(const double *)p > *(const double *)q) - (*(const double *)p < *(const double *)q);
}

/* Returns the milliseconds per step of the slowest rank: the median of three runs. */
template <class Run>
static double median_of_three(World *w, int steps, Run run)
{
    double ms[3];
    for (double &each : ms) each = largest_of(w, run()) / steps;
    qsort(ms, 3, sizeof *ms, ascending);
    return ms[1];
}

static int send_nothing(void *, const bs3d_rank *, int, int, const bs3d_message *)
{
    return 0;
}

/* Measures what sending costs: times `steps` steps that send nothing, and then the messages of as many steps alone. */
template <class Kit>
static void measure_apart(Marching<Kit> *m, int steps, Row *row)
{
    const bs3d_exchange by = m->ranks.exchange;
    m->ranks.exchange = {NULL, NULL, send_nothing, NULL, NULL, NULL};
    row->ms_alone = median_of_three(m->world, steps, [&] {
        done(bs3d_ranks_open(&m->march, m->work));
        return march(m, steps);
    });
    const int exchanges = m->march.exchanges;
    m->ranks.exchange = by;
    row->ms_messages = median_of_three(m->world, steps, [&] { return send(m, exchanges); });
}

/* Fills in what a row says about a finished march. */
template <class Kit>
static void describe(const Marching<Kit> *m, Row *row)
{
    static const char *const names[] = {"copies", "nccl", "mpi"};
    const int alone = ranks_of(m->world) == 1;
    row->precision = Kit::name();
    row->engine = m->march.options.implicit ? "adi" : "explicit";
    row->slabs = ranks_of(m->world);
    row->by = alone ? "none" : names[m->world->by];
    row->deep = alone ? 0 : m->march.options.implicit ? m->slabs[0].cut.reach : m->march.options.halo;
    row->steps = m->problem.steps;
    memcpy(row->points, m->problem.points, sizeof row->points);
    row->bytes = bytes_sent(m);
}

/* Marches and fills in a row. If `timed` is set, the first quarter of the steps is a warm-up, each further quarter is
   timed, and the median counts; between several ranks it then measures what sending costs. Fewer than four steps are
   taken at once. */
template <class Kit>
static void measured_march(World *w, const bs3d_problem *problem, const bs3d_ranks_options *options, int timed,
                           int checked, Row *row)
{
    Marching<Kit> m = {};
    bs3d_result result;
    const int quarter = problem->steps / 4, last = problem->steps - 3 * quarter;
    double ms[3] = {-1, -1, -1};
    timed = timed && quarter > 0;
    if (!timed) m.told = seconds();
    open_march(&m, w, problem, options);
    if (timed) {
        march(&m, quarter);
        for (int n = 0; n < 3; n++)
            ms[n] = largest_of(w, march(&m, n < 2 ? (2 + n) * quarter : problem->steps)) / (n < 2 ? quarter : last);
        qsort(ms, 3, sizeof *ms, ascending);
    } else {
        ms[1] = largest_of(w, march(&m, problem->steps)) / problem->steps;
    }
    row->ms = is_gpu ? ms[1] : -1;
    describe(&m, row);
    now_doing("gathering the result");
    done(bs3d_ranks_result(&m.march, &result));
    row->value = result.price;
    row->difference = row->ms_messages = row->ms_alone = -1;
    row->unchecked = 0;
    if (checked) {
        const double off = difference(&m, row->value);
        row->unchecked = largest_of(w, off < 0) > 0;
        if (!row->unchecked) row->difference = largest_of(w, off);
    }
    if (timed && ranks_of(w) > 1) measure_apart(&m, quarter, row);
    close_march(&m);
}

/* Measures bs3d.h's own launch on one GPU, including tables and payoff. */
template <class Kit>
static void launched(World *w, const bs3d_problem *problem, int implicit, Row *row)
{
    const bs3d_rank *r = here(w, 0);
    const Clock *clock = w->clock;
    bs3d_result result;
    void *work;
    now_alone("marching on one GPU");
    check(cudaMalloc(&work, Kit::whole_bytes(problem)));
    const auto run = [&] {
        float time = 0;
        check(cudaEventRecord(clock->start, r->march));
        done(Kit::whole(problem, implicit, work, &result, r->march));
        check(cudaEventRecord(clock->stop, r->march));
        check(cudaEventSynchronize(clock->stop));
        check(cudaEventElapsedTime(&time, clock->start, clock->stop));
        return (double)time;
    };
    run();
    row->ms = median_of_three(w, problem->steps, run);
    check(cudaFree(work));
    row->engine = implicit ? "implicit2" : "explicit4";
    row->precision = Kit::name();
    row->by = "none";
    row->slabs = 1;
    row->deep = 0;
    row->steps = problem->steps;
    memcpy(row->points, problem->points, sizeof row->points);
    row->value = result.price;
    row->bytes = row->unchecked = 0;
    row->difference = row->ms_messages = row->ms_alone = row->speedup = -1;
}

#endif
