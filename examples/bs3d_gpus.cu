/* bs3d_gpus.cu - bs3d.h's explicit and ADI marches on slabs of planes, one a GPU: the same answers on any number of
   them. MIT licence, see LICENSE.

       bs3d_gpus [explicit|adi] [f32|f64] [--size N [NY NZ]] [--steps N] [--gpus N] [--slabs N] [--deep N] [--copies]
                 [--in-turn] [--check] [--measure] [--timeout SECONDS] [--lose STEP] [--csv [FILE]]

   A call on the geometric average of three assets, S = K = 100, r = 0.05, sigma = 0.2, every correlation 0.5, steps of
   1/2000 year (ADI) or as long as 500 for 0.05 years on 256 points are (explicit; shorter on more points). Prints a row
   for each march: see docs/gpus.md, which says what is sent, when and how much.
   --size up to 1024 points in x and y, in z as many for each slab. --slabs more of them than GPUs, which then have
   several; only by --copies. --deep explicit: planes of its neighbours that a slab has copies of, so that it need send
   but once in so many steps. --copies by cudaMemcpyPeerAsync in one process, instead of by NCCL. --in-turn sends and
   computes one after the other. --check marches the whole grid on each GPU as well, by bs3d.h's own launch, and
   compares all values, or says that one GPU has no room. --measure all of docs/gpus.md's table, strong and weak scaling
   on 1, 2, 4 ... GPUs, in a minute. --timeout after which a march that makes no progress ends the program (30 s).
   --lose: the last slab sends nothing from this step on, to see that. Without a GPU, or rather under tests/simt, the
   default is a tiny grid on 1, 2 and 3 slabs.

   One process has all GPUs of a machine, by ncclCommInitAll, or by copies if it is compiled without NCCL
   (BS3D_GPUS_NCCL). Started by MPI (compiled with BS3D_GPUS_MPI), each process has one, and NCCL is needed. All code
   below is for an array of ranks, those of this process. */
#include "bs3d.h"

#ifdef BS3D_GPUS_MPI
#ifndef BS3D_GPUS_NCCL
#error "BS3D_GPUS_MPI needs BS3D_GPUS_NCCL: processes exchange planes by NCCL alone"
#endif
#include <mpi.h>
#endif
#ifdef BS3D_GPUS_NCCL
#include <nccl.h>
#endif
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown flags"
#endif

enum { MOST_RANKS = 64, NUMBERS = 64, LAP = 16 };
#ifdef SIMT_EMULATOR
enum { is_gpu = 0 }; /* its speed is not worth printing */
#else
enum { is_gpu = 1 };
#endif

/* ---- what ends the program --------------------------------------------------------------------------------------- */

static double timeout_seconds = 30;
static char doing[200] = "starting"; /* what is said of a hang */

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
    _exit(1); /* whatever the GPUs are still waiting for */
}

static void check(cudaError_t error)
{
    if (error != cudaSuccess) die("CUDA, %s: %s", doing, cudaGetErrorString(error));
}

static void done(int status)
{
    if (status) die("%s: %s", doing, bs3d_status_string(status));
}

/* A call that does not come back: of NCCL or MPI, whose peer is gone. */
static void on_alarm(int)
{
    const char text[] = "bs3d_gpus: no progress, a peer may be lost; while ";
    ssize_t ignored = write(2, text, sizeof text - 1);
    ignored = write(2, doing, strlen(doing));
    ignored = write(2, "\n", 1);
    (void)ignored;
#ifdef BS3D_GPUS_MPI
    signal(SIGALRM, SIG_DFL); /* which ends this process, should MPI hang too */
    alarm(5);
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    _exit(1);
}

/* There was progress: the next has to come before the time is up. */
static void moving(void)
{
    alarm((unsigned)ceil(timeout_seconds) + 5);
}

/* From now on the program does this, and has the time for it. */
static void now_doing(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(doing, sizeof doing, format, arguments);
    va_end(arguments);
    moving();
}

/* From now on each rank does this by itself, for as long as it takes: no lost peer can hold it up. */
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

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* A slab's GPU, and its streams: the march; what may run beside its outer part; and messages. The events say of each
   how far it has come. */
struct Rank {
    int rank, device;
    cudaStream_t march, inner, transfer;
    cudaEvent_t begun, outer, inner_done, posted, sent, arrived, laps[2], start, stop;
    double numbers[NUMBERS]; /* exchange_sum's */
    double *device_numbers;
#ifdef BS3D_GPUS_NCCL
    ncclComm_t comm;
#endif
};

/* ranks of them, of which this process has the count that begin with number first. */
struct World {
    int ranks, first, count, by_nccl;
    Rank local[MOST_RANKS];
};

static void here(const Rank *r)
{
    check(cudaSetDevice(r->device));
}

static void open_rank(Rank *r)
{
    int least, greatest;
    cudaEvent_t *events[] = {&r->begun, &r->outer,   &r->inner_done, &r->posted,
                             &r->sent,  &r->arrived, r->laps,        r->laps + 1};
    here(r);
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    check(cudaStreamCreateWithPriority(&r->march, cudaStreamNonBlocking, greatest));
    check(cudaStreamCreateWithPriority(&r->inner, cudaStreamNonBlocking, least));
    check(cudaStreamCreateWithPriority(&r->transfer, cudaStreamNonBlocking, greatest));
    for (cudaEvent_t *event : events) check(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    check(cudaEventCreate(&r->start));
    check(cudaEventCreate(&r->stop));
    check(cudaMalloc(&r->device_numbers, sizeof r->numbers));
}

static void close_rank(Rank *r)
{
    cudaEvent_t events[] = {r->begun,   r->outer,   r->inner_done, r->posted, r->sent,
                            r->arrived, r->laps[0], r->laps[1],    r->start,  r->stop};
    here(r);
    for (cudaEvent_t event : events) check(cudaEventDestroy(event));
    check(cudaStreamDestroy(r->march));
    check(cudaStreamDestroy(r->inner));
    check(cudaStreamDestroy(r->transfer));
    check(cudaFree(r->device_numbers));
}

/* ---- the exchange: by NCCL, or by copies within the process ------------------------------------------------------ */

#ifdef BS3D_GPUS_NCCL
static void check(ncclResult_t result)
{
    if (result != ncclSuccess) die("NCCL, %s: %s (%s)", doing, ncclGetErrorString(result), ncclGetLastError(NULL));
}
#endif

/* Messages that have been named: of rank from to rank to, the n-th between them. */
struct Posted {
    int from, to, n;
    bs3d_message message;
    void *sent; /* under the emulator: a copy of it */
};
static Posted posted[2 * MOST_RANKS * MOST_RANKS];
static int posted_count;

static void exchange_open(World *w)
{
    now_doing("opening %d ranks", w->ranks);
    for (int i = 0; i < w->count; i++) open_rank(w->local + i);
#ifdef BS3D_GPUS_NCCL
    if (w->by_nccl && w->count == w->ranks) {
        ncclComm_t comms[MOST_RANKS];
        int devices[MOST_RANKS];
        for (int i = 0; i < w->count; i++) devices[i] = w->local[i].device;
        check(ncclCommInitAll(comms, w->count, devices));
        for (int i = 0; i < w->count; i++) w->local[i].comm = comms[i];
    }
#ifdef BS3D_GPUS_MPI
    if (w->by_nccl && w->count < w->ranks) {
        ncclUniqueId id;
        if (w->first == 0) check(ncclGetUniqueId(&id));
        MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
        here(w->local);
        check(ncclCommInitRank(&w->local->comm, w->ranks, id, w->first));
    }
#endif
#endif
#ifndef SIMT_EMULATOR
    for (int i = 0; i < w->count; i++) /* straight from GPU to GPU where they can; elsewhere copies go by the host */
        for (int j = 0; j < w->count; j++) {
            int can = 0, a = w->local[i].device, b = w->local[j].device;
            if (a != b) check(cudaDeviceCanAccessPeer(&can, a, b));
            here(w->local + i);
            if (can && cudaDeviceEnablePeerAccess(b, 0) != cudaSuccess) cudaGetLastError(); /* it is already */
        }
#endif
}

static void exchange_close(World *w)
{
#ifdef BS3D_GPUS_NCCL
    for (int i = 0; i < w->count && w->by_nccl; i++) check(ncclCommDestroy(w->local[i].comm));
#endif
    for (int i = 0; i < w->count; i++) close_rank(w->local + i);
}

/* Messages are named between begin and end, by both sides in the same order; end starts them, in the ranks' transfer
   streams; what comes after arrive in their march streams finds them there. */
static void exchange_begin(World *w)
{
    posted_count = 0;
#ifdef BS3D_GPUS_NCCL
    if (w->by_nccl) check(ncclGroupStart());
#endif
    (void)w;
}

static void exchange_message(World *w, Rank *r, int peer, int n, const bs3d_message *m)
{
#ifdef BS3D_GPUS_NCCL
    if (w->by_nccl) {
        check(ncclSend(m->send, m->bytes, ncclChar, peer, r->comm, r->transfer));
        check(ncclRecv(m->receive, m->bytes, ncclChar, peer, r->comm, r->transfer));
        return;
    }
#endif
    (void)w;
    const Posted one = {r->rank, peer, n, *m, NULL};
    posted[posted_count++] = one;
}

/* The other side of a message; one that nobody has named is a mistake. */
static const Posted *other_side(const Posted *out)
{
    for (const Posted *in = posted; in < posted + posted_count; in++)
        if (in->from == out->to && in->to == out->from && in->n == out->n) return in;
    die("rank %d sends to rank %d, which does not listen", out->from, out->to);
    return NULL;
}

#ifdef SIMT_EMULATOR
/* What is sent leaves as early as it may, and arrives as late. */
static void send_posted(void)
{
    for (Posted *out = posted; out < posted + posted_count; out++) {
        check(cudaMalloc(&out->sent, out->message.bytes));
        check(cudaMemcpy(out->sent, out->message.send, out->message.bytes, cudaMemcpyDeviceToDevice));
    }
}
static void deliver_posted(void)
{
    for (const Posted *out = posted; out < posted + posted_count; out++) {
        check(cudaMemcpy(other_side(out)->message.receive, out->sent, out->message.bytes, cudaMemcpyDeviceToDevice));
        check(cudaFree(out->sent));
    }
}
#else
static Rank *local_rank(World *w, int rank)
{
    return rank >= w->first && rank < w->first + w->count ? w->local + (rank - w->first) : NULL;
}

static void copy_posted(World *w)
{
    for (const Posted *out = posted; out < posted + posted_count; out++) {
        const Posted *in = other_side(out);
        Rank *from = local_rank(w, out->from), *to = local_rank(w, out->to);
        here(from);
        check(cudaStreamWaitEvent(from->transfer, to->posted, 0));
        check(cudaMemcpyPeerAsync(in->message.receive, to->device, out->message.send, from->device, out->message.bytes,
                                  from->transfer));
    }
}
#endif

static void exchange_end(World *w)
{
#ifdef BS3D_GPUS_NCCL
    if (w->by_nccl) {
        check(ncclGroupEnd());
        for (int i = 0; i < w->count; i++) {
            here(w->local + i);
            check(cudaEventRecord(w->local[i].arrived, w->local[i].transfer));
        }
        return;
    }
#endif
#ifdef SIMT_EMULATOR
    send_posted();
#else
    for (int i = 0; i < w->count; i++) {
        here(w->local + i);
        check(cudaEventRecord(w->local[i].posted, w->local[i].transfer));
    }
    copy_posted(w);
    for (int i = 0; i < w->count; i++) {
        here(w->local + i);
        check(cudaEventRecord(w->local[i].sent, w->local[i].transfer));
    }
    for (int i = 0; i < posted_count; i++) {
        Rank *to = local_rank(w, posted[i].to);
        here(to);
        check(cudaStreamWaitEvent(to->transfer, local_rank(w, posted[i].from)->sent, 0));
    }
    for (int i = 0; i < w->count; i++) {
        here(w->local + i);
        check(cudaEventRecord(w->local[i].arrived, w->local[i].transfer));
    }
    posted_count = 0;
#endif
    (void)w;
}

static void exchange_arrive(World *w)
{
#ifdef SIMT_EMULATOR
    deliver_posted();
    posted_count = 0;
#endif
    for (int i = 0; i < w->count; i++) {
        here(w->local + i);
        check(cudaStreamWaitEvent(w->local[i].march, w->local[i].arrived, 0));
    }
}

/* The sum over all ranks of their numbers, to all. */
static void exchange_sum(World *w)
{
    double sum[NUMBERS] = {0};
#ifdef BS3D_GPUS_NCCL
    if (w->by_nccl) {
        for (int i = 0; i < w->count; i++) {
            Rank *r = w->local + i;
            here(r);
            check(
                cudaMemcpyAsync(r->device_numbers, r->numbers, sizeof r->numbers, cudaMemcpyHostToDevice, r->transfer));
        }
        check(ncclGroupStart());
        for (int i = 0; i < w->count; i++) {
            Rank *r = w->local + i;
            check(ncclAllReduce(r->device_numbers, r->device_numbers, NUMBERS, ncclDouble, ncclSum, r->comm,
                                r->transfer));
        }
        check(ncclGroupEnd());
        for (int i = 0; i < w->count; i++) {
            Rank *r = w->local + i;
            here(r);
            check(
                cudaMemcpyAsync(r->numbers, r->device_numbers, sizeof r->numbers, cudaMemcpyDeviceToHost, r->transfer));
            check(cudaStreamSynchronize(r->transfer));
        }
        return;
    }
#endif
    for (int i = 0; i < w->count; i++)
        for (int n = 0; n < NUMBERS; n++) sum[n] += w->local[i].numbers[n];
    for (int i = 0; i < w->count; i++) memcpy(w->local[i].numbers, sum, sizeof sum);
}

/* Waits for an event of a rank, looking whether it still can come; that it came is progress. */
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
        for (int i = 0; i < w->count && w->by_nccl; i++) {
            ncclResult_t state;
            check(ncclCommGetAsyncError(w->local[i].comm, &state));
            if (state != ncclInProgress) check(state);
        }
#endif
        (void)w;
        if (seconds() - since > timeout_seconds)
            die("%s: nothing has moved for %g s, a peer may be lost", doing, timeout_seconds);
        usleep(20);
    }
}

/* ---- bs3d.h by precision ----------------------------------------------------------------------------------------- */

struct Single {
    typedef float Real;
    typedef bs3d_slab_march_f32 March;
    enum { is_double = 0 };
    static const char *name(void) { return "f32"; }
    static int sections(const bs3d_problem *o, int slabs) { return bs3d_slab_partitions_f32(o, slabs); }
    static size_t bytes(const bs3d_problem *o, const bs3d_slab *cut) { return bs3d_slab_bytes_f32(o, cut); }
    static int open(const bs3d_problem *o, const bs3d_slab *cut, void *work, March *m, cudaStream_t stream)
    {
        return bs3d_slab_open_f32(o, cut, work, m, stream);
    }
    static int sweep(March *m, int steps, int part, int extra, int early, cudaStream_t stream)
    {
        return bs3d_slab_explicit_f32(m, steps, part, extra, early, stream);
    }
    static int up(March *m, int part, cudaStream_t stream) { return bs3d_slab_up_f32(m, part, stream); }
    static int down(March *m, cudaStream_t stream) { return bs3d_slab_down_f32(m, stream); }
    static int exercise(March *m, cudaStream_t stream) { return bs3d_slab_exercise_f32(m, stream); }
    static int values(March *m, cudaStream_t stream) { return bs3d_slab_values_f32(m, stream); }
    static int messages(const March *m, int peer, bs3d_message *to) { return bs3d_slab_messages_f32(m, peer, to); }
    static bs3d_result greeks(const bs3d_problem *o, const Real *v) { return bs3d_lane_greeks_f32(o, v); }
    static size_t whole_bytes(const bs3d_problem *o) { return bs3d_work_bytes_f32(o); }
    static int whole(const bs3d_problem *o, int implicit, void *work, bs3d_result *result, cudaStream_t stream)
    {
        return implicit ? bs3d_implicit2_f32(o, work, result, stream) : bs3d_explicit4_f32(o, work, result, stream);
    }
};

struct Double {
    typedef double Real;
    typedef bs3d_slab_march_f64 March;
    enum { is_double = 1 };
    static const char *name(void) { return "f64"; }
    static int sections(const bs3d_problem *o, int slabs) { return bs3d_slab_partitions_f64(o, slabs); }
    static size_t bytes(const bs3d_problem *o, const bs3d_slab *cut) { return bs3d_slab_bytes_f64(o, cut); }
    static int open(const bs3d_problem *o, const bs3d_slab *cut, void *work, March *m, cudaStream_t stream)
    {
        return bs3d_slab_open_f64(o, cut, work, m, stream);
    }
    static int sweep(March *m, int steps, int part, int extra, int early, cudaStream_t stream)
    {
        return bs3d_slab_explicit_f64(m, steps, part, extra, early, stream);
    }
    static int up(March *m, int part, cudaStream_t stream) { return bs3d_slab_up_f64(m, part, stream); }
    static int down(March *m, cudaStream_t stream) { return bs3d_slab_down_f64(m, stream); }
    static int exercise(March *m, cudaStream_t stream) { return bs3d_slab_exercise_f64(m, stream); }
    static int values(March *m, cudaStream_t stream) { return bs3d_slab_values_f64(m, stream); }
    static int messages(const March *m, int peer, bs3d_message *to) { return bs3d_slab_messages_f64(m, peer, to); }
    static bs3d_result greeks(const bs3d_problem *o, const Real *v) { return bs3d_lane_greeks_f64(o, v); }
    static size_t whole_bytes(const bs3d_problem *o) { return bs3d_work_bytes_f64(o); }
    static int whole(const bs3d_problem *o, int implicit, void *work, bs3d_result *result, cudaStream_t stream)
    {
        return implicit ? bs3d_implicit2_f64(o, work, result, stream) : bs3d_explicit4_f64(o, work, result, stream);
    }
};

/* ---- the march --------------------------------------------------------------------------------------------------- */

enum { FULL, ALONE, MESSAGES }; /* all of a march; without sending; nothing but sending: to see what that takes */

/* How it is done. */
struct Options {
    int implicit, deep, in_turn, sections;
    int lose; /* from this step on the last rank sends nothing; 0: it always does */
    int progress;
};

template <class Kit>
struct Marching {
    World *world;
    bs3d_problem problem;
    Options options;
    int step, total, mode;
    int valid; /* explicit: copies that are of the time of the values */
    int exchanges;
    double told; /* when progress was */
    typename Kit::March slabs[MOST_RANKS];
    void *work[MOST_RANKS];
};

template <class Kit>
static void open_march(Marching<Kit> *m)
{
    World *w = m->world;
    const int implicit = m->options.implicit;
    const bs3d_problem *o = &m->problem;
    now_doing("opening a march on %d slabs", w->ranks);
    done(bs3d_slab_check(o, implicit, w->ranks));
    for (int i = 0; i < w->count; i++) {
        Rank *r = w->local + i;
        int sections = 0;
        bs3d_slab cut;
        here(r);
        if (implicit) {
            sections = m->options.sections ? m->options.sections : Kit::sections(o, w->ranks);
            if (!sections) die("the slabs are too thin, or this GPU has too little shared memory");
        }
        memset(r->numbers, 0, sizeof r->numbers);
        r->numbers[0] = sections; /* on all the same? */
        done(bs3d_slab_cut(o, implicit, Kit::is_double, w->ranks, r->rank, m->options.deep, sections, &cut));
        check(cudaMalloc(m->work + i, Kit::bytes(o, &cut)));
        done(Kit::open(o, &cut, m->work[i], m->slabs + i, r->march));
    }
    exchange_sum(w);
    for (int i = 0; i < w->count; i++)
        if (implicit && w->local[i].numbers[0] != w->ranks * m->slabs[i].cut.partitions) die("the GPUs are not alike");
    m->step = m->exchanges = 0;
    m->mode = FULL;
    m->valid = m->options.deep;
    m->told = seconds();
}

template <class Kit>
static void close_march(Marching<Kit> *m)
{
    for (int i = 0; i < m->world->count; i++) {
        here(m->world->local + i);
        check(cudaFree(m->work[i]));
    }
}

/* What the ranks have for each other is on its way, from when their march streams are where they are now. */
template <class Kit>
static void exchange(Marching<Kit> *m)
{
    World *w = m->world;
    m->exchanges++;
    if (m->mode == ALONE) return;
    for (int i = 0; i < w->count; i++) {
        Rank *r = w->local + i;
        here(r);
        check(cudaEventRecord(r->outer, r->march));
        check(cudaStreamWaitEvent(r->transfer, r->outer, 0));
    }
    exchange_begin(w);
    for (int i = 0; i < w->count; i++) {
        Rank *r = w->local + i;
        if (m->options.lose && m->step >= m->options.lose && r->rank == w->ranks - 1) continue;
        for (int peer = 0; peer < w->ranks; peer++) {
            bs3d_message messages[2];
            int count = Kit::messages(m->slabs + i, peer, messages);
            for (int n = 0; n < count; n++) exchange_message(w, r, peer, n, messages + n);
        }
    }
    exchange_end(w);
}

/* From here on the inner part may run beside the outer one. */
static void part_begins(Rank *r)
{
    check(cudaEventRecord(r->begun, r->march));
    check(cudaStreamWaitEvent(r->inner, r->begun, 0));
}
static void parts_end(Rank *r)
{
    check(cudaEventRecord(r->inner_done, r->inner));
    check(cudaStreamWaitEvent(r->march, r->inner_done, 0));
}

template <class Kit>
static void arrive(Marching<Kit> *m)
{
    if (m->mode != ALONE) exchange_arrive(m->world);
}

/* One or two explicit steps; early: the sweep before was followed by nothing. Returns how many. */
template <class Kit>
static int explicit_sweep(Marching<Kit> *m, int *early)
{
    World *w = m->world;
    const int american = m->problem.flags & BS3D_AMERICAN, left = m->total - m->step;
    const int steps = american || left < 2 || m->options.deep < 2 ? 1 : 2;
    const int next = american || left - steps < 2 || m->options.deep < 2 ? left > steps : 2;
    const int extra = m->valid - steps, sends = w->ranks > 1 && extra < next, parts = sends && !m->options.in_turn;
    for (int i = 0; i < w->count && m->mode != MESSAGES; i++) {
        Rank *r = w->local + i;
        here(r);
        if (parts) part_begins(r);
        done(Kit::sweep(m->slabs + i, steps, parts ? BS3D_OUTER : BS3D_ALL, sends ? 0 : extra, *early && !parts,
                        r->march));
    }
    if (sends) exchange(m);
    for (int i = 0; i < w->count && parts && m->mode != MESSAGES; i++) {
        Rank *r = w->local + i;
        here(r);
        done(Kit::sweep(m->slabs + i, steps, BS3D_INNER, 0, 0, r->inner));
        parts_end(r);
    }
    if (sends) arrive(m);
    m->valid = sends || w->ranks == 1 ? m->options.deep : extra;
    *early = !sends && !american;
    return steps;
}

/* An ADI step: upward, what neighbours wait for first; the chain of ends and downward when theirs is there. */
template <class Kit>
static void implicit_step(Marching<Kit> *m)
{
    World *w = m->world;
    const int parts = w->ranks > 1 && !m->options.in_turn;
    for (int i = 0; i < w->count && m->mode != MESSAGES; i++) {
        Rank *r = w->local + i;
        here(r);
        const int beside = m->slabs[i].fused; /* else the inner part is what comes after the outer one */
        if (parts && beside) part_begins(r);
        done(Kit::up(m->slabs + i, parts ? BS3D_OUTER : BS3D_ALL, r->march));
        if (parts && !beside) part_begins(r);
    }
    if (w->ranks > 1) exchange(m);
    for (int i = 0; i < w->count && parts && m->mode != MESSAGES; i++) {
        Rank *r = w->local + i;
        here(r);
        done(Kit::up(m->slabs + i, BS3D_INNER, r->inner));
        parts_end(r);
    }
    if (w->ranks > 1) arrive(m);
    for (int i = 0; i < w->count && m->mode != MESSAGES; i++) {
        Rank *r = w->local + i;
        here(r);
        done(Kit::down(m->slabs + i, r->march));
    }
}

/* The host is never more than two laps ahead of the GPUs; and says how far they are. */
template <class Kit>
static void lap(Marching<Kit> *m, int number)
{
    World *w = m->world;
    for (int i = 0; i < w->count; i++) {
        here(w->local + i);
        check(cudaEventRecord(w->local[i].laps[number % 2], w->local[i].march));
    }
    for (int i = 0; i < w->count && number > 0; i++) {
        here(w->local + i);
        await(w, w->local[i].laps[(number + 1) % 2]);
    }
    if (m->options.progress && w->first == 0 && seconds() - m->told > 2) {
        fprintf(stderr, "step %d of %d\n", m->step, m->total);
        m->told = seconds();
    }
}

/* Steps of a march, until so many have been made. Returns the milliseconds that they took, of the slowest rank here. */
template <class Kit>
static double march(Marching<Kit> *m, int until)
{
    World *w = m->world;
    int early = 0, laps = 0, next_lap = m->step + LAP;
    double most = 0;
    for (int i = 0; i < w->count; i++) { /* from the same moment on */
        here(w->local + i);
        check(cudaStreamSynchronize(w->local[i].march));
    }
    for (int i = 0; i < w->count; i++) {
        here(w->local + i);
        check(cudaEventRecord(w->local[i].start, w->local[i].march));
    }
    while (m->step < until) {
        int steps = 1;
        now_doing("at step %d of %d", m->step, m->total);
        if (m->options.implicit)
            implicit_step(m);
        else
            steps = explicit_sweep(m, &early);
        for (int i = 0; i < w->count && m->mode != MESSAGES; i++) {
            here(w->local + i);
            done(Kit::exercise(m->slabs + i, w->local[i].march));
        }
        m->step += steps;
        if (m->step >= next_lap) lap(m, laps++), next_lap += LAP;
    }
    for (int i = 0; i < w->count; i++) {
        here(w->local + i);
        check(cudaEventRecord(w->local[i].stop, w->local[i].march));
    }
    for (int i = 0; i < w->count; i++) {
        float ms = 0;
        here(w->local + i);
        await(w, w->local[i].stop);
        check(cudaEventElapsedTime(&ms, w->local[i].start, w->local[i].stop));
        if (ms > most) most = ms;
    }
    return most;
}

/* The result at the spot, of which each rank may have some of the values around it. */
template <class Kit>
static bs3d_result result_of(Marching<Kit> *m)
{
    typedef typename Kit::Real Real;
    World *w = m->world;
    Real values[NUMBERS];
    now_doing("gathering the result");
    for (int i = 0; i < w->count; i++) {
        Rank *r = w->local + i;
        here(r);
        done(Kit::values(m->slabs + i, r->march));
        check(cudaMemcpyAsync(values, m->slabs[i].values, sizeof values, cudaMemcpyDeviceToHost, r->march));
        check(cudaStreamSynchronize(r->march));
        for (int n = 0; n < NUMBERS; n++) r->numbers[n] = (double)values[n];
    }
    exchange_sum(w);
    for (int n = 0; n < NUMBERS; n++) values[n] = (Real)w->local->numbers[n];
    bs3d_result result = Kit::greeks(&m->problem, values);
    done(result.status);
    return result;
}

/* ---- against one GPU --------------------------------------------------------------------------------------------- */

enum { BLOCKS = is_gpu ? 512 : 2, THREADS = 256 };

/* The largest difference of two arrays and the largest value, of a block's share; NaN is larger than any. */
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

static double not_compared(const Rank *r, const char *why)
{
    fprintf(stderr, "bs3d_gpus: rank %d is not compared with one GPU's march of the whole grid: %s\n", r->rank, why);
    return -1;
}

/* The largest difference of this process' slabs from bs3d.h's own march of the whole grid on one GPU, as a share of the
   largest value, and of the price from that march's, as a share of the strike. -1 if one GPU cannot have the grid. */
template <class Kit>
static double difference(Marching<Kit> *m, double price)
{
    typedef typename Kit::Real Real;
    World *w = m->world;
    double most[2] = {0, 0}, *found = NULL, blocks[2 * BLOCKS];
    void *work = NULL; /* once for slabs that follow each other on a device */
    bs3d_result result = {};
    const int status = bs3d_check(&m->problem, m->options.implicit); /* it may have too many planes for one */
    if (status) return not_compared(w->local, bs3d_status_string(status));
    now_alone("marching the whole grid for comparison");
    for (int i = 0; i < w->count; i++) {
        Rank *r = w->local + i;
        here(r);
        if (!work) {
            if (cudaMalloc(&work, Kit::whole_bytes(&m->problem)) != cudaSuccess) {
                cudaGetLastError();
                return not_compared(r, "no room");
            }
            check(cudaMalloc(&found, sizeof blocks));
            done(Kit::whole(&m->problem, m->options.implicit, work, &result, r->march));
        }
        const bs3d_slab *cut = &m->slabs[i].cut;
        const size_t plane = (size_t)m->slabs[i].job.plan.plane;
        check(trid_launch(largest<Real>, BLOCKS, THREADS, 0, r->march, plane * (size_t)cut->planes,
                          m->slabs[i].job.u + plane * (size_t)cut->below,
                          (const Real *)work + plane * (size_t)cut->first, found, found + BLOCKS));
        check(cudaMemcpyAsync(blocks, found, sizeof blocks, cudaMemcpyDeviceToHost, r->march));
        check(cudaStreamSynchronize(r->march));
        for (int n = 0; n < 2 * BLOCKS; n++) most[n / BLOCKS] = trid_larger_f64(most[n / BLOCKS], blocks[n]);
        if (i + 1 < w->count && r[1].device == r->device) continue;
        check(cudaFree(work));
        check(cudaFree(found));
        work = NULL;
    }
    return trid_larger_f64(most[0] / most[1], (result.price - price) / m->problem.strike);
}

/* ---- one march, measured ----------------------------------------------------------------------------------------- */

/* The largest of all ranks' numbers, none negative, of which own is the largest here. */
static double largest_of(World *w, double own)
{
    double most = 0;
    for (int i = 0; i < w->count; i++) {
        memset(w->local[i].numbers, 0, sizeof w->local[i].numbers);
        w->local[i].numbers[w->local[i].rank] = own;
    }
    exchange_sum(w);
    for (int n = 0; n < w->ranks; n++) most = trid_larger_f64(most, w->local->numbers[n]);
    return most;
}

/* A row of the table; what is not known is negative. */
struct Row {
    const char *scaling, *engine, *precision;
    int gpus, slabs, deep, steps;
    int unchecked; /* a comparison was asked for, and there was no room for it */
    int points[3];
    const char *by;
    double ms, speedup, bytes, ms_messages, ms_alone, value, difference;
};

/* Bytes that a rank sends a step, of the rank here that sends most. */
template <class Kit>
static double bytes_sent(const Marching<Kit> *m)
{
    double most = 0;
    for (int i = 0; i < m->world->count; i++) {
        double sum = 0;
        for (int peer = 0; peer < m->world->ranks; peer++) {
            bs3d_message messages[2];
            int count = Kit::messages(m->slabs + i, peer, messages);
            for (int n = 0; n < count; n++) sum += (double)messages[n].bytes;
        }
        if (sum > most) most = sum;
    }
    return most * m->exchanges / m->step;
}

static int ascending(const void *p, const void *q)
{
    return (*(const double *)p > *(const double *)q) - (*(const double *)p < *(const double *)q);
}

/* Marches, timed: three laps after a warm-up, of which the median counts; and then, for what sending costs, the same
   without it and it without the rest. Row has the problem's steps: a quarter of them is each lap; fewer than four are
   marched at once. */
template <class Kit>
static void measured_march(World *w, const bs3d_problem *problem, const Options *options, int timed, int checked,
                           Row *row)
{
    Marching<Kit> m = {};
    const int quarter = problem->steps / 4;
    double ms[3] = {-1, -1, -1};
    timed = timed && quarter > 0;
    m.world = w;
    m.problem = *problem;
    m.options = *options;
    m.total = problem->steps;
    open_march(&m);
    if (timed) {
        march(&m, quarter);
        for (int n = 0; n < 3; n++)
            ms[n] = largest_of(w, march(&m, n < 2 ? (2 + n) * quarter : m.total)) /
                    (n < 2 ? quarter : m.total - 3 * quarter);
        qsort(ms, 3, sizeof *ms, ascending);
    } else {
        ms[1] = largest_of(w, march(&m, m.total)) / m.total;
    }
    row->precision = Kit::name();
    row->engine = options->implicit ? "adi" : "explicit";
    row->slabs = w->ranks;
    row->by = w->ranks == 1 ? "none" : w->by_nccl ? "nccl" : "copies";
    row->deep = w->ranks == 1 ? 0 : options->implicit ? m.slabs[0].cut.reach : options->deep;
    row->steps = m.total;
    memcpy(row->points, problem->points, sizeof row->points);
    row->ms = is_gpu ? ms[1] : -1;
    row->value = result_of(&m).price;
    row->bytes = bytes_sent(&m);
    row->difference = -1;
    row->unchecked = 0;
    if (checked) {
        const double off = difference(&m, row->value);
        row->unchecked = largest_of(w, off < 0) > 0;
        if (!row->unchecked) row->difference = largest_of(w, off);
    }
    row->ms_messages = row->ms_alone = -1;
    for (int mode = ALONE; timed && w->ranks > 1 && mode <= MESSAGES; mode++) {
        m.mode = mode;
        for (int n = 0; n < 3; n++) {
            m.step = 0;
            m.total = problem->steps;
            ms[n] = largest_of(w, march(&m, quarter)) / quarter;
        }
        qsort(ms, 3, sizeof *ms, ascending);
        *(mode == ALONE ? &row->ms_alone : &row->ms_messages) = ms[1];
    }
    close_march(&m);
}

/* bs3d.h's own launch on one GPU, all of it timed, tables and payoff too. */
template <class Kit>
static void launched(World *w, const bs3d_problem *problem, int implicit, Row *row)
{
    Rank *r = w->local;
    bs3d_result result;
    void *work;
    double ms[3];
    here(r);
    now_alone("marching on one GPU");
    check(cudaMalloc(&work, Kit::whole_bytes(problem)));
    for (int n = -1; n < 3; n++) {
        float time = 0;
        check(cudaEventRecord(r->start, r->march));
        done(Kit::whole(problem, implicit, work, &result, r->march));
        check(cudaEventRecord(r->stop, r->march));
        check(cudaEventSynchronize(r->stop));
        check(cudaEventElapsedTime(&time, r->start, r->stop));
        if (n >= 0) ms[n] = (double)time / problem->steps;
    }
    check(cudaFree(work));
    largest_of(w, 0); /* waits until all are done */
    qsort(ms, 3, sizeof *ms, ascending);
    row->engine = implicit ? "implicit2" : "explicit4";
    row->precision = Kit::name();
    row->by = "none";
    row->slabs = 1;
    row->deep = 0;
    row->steps = problem->steps;
    memcpy(row->points, problem->points, sizeof row->points);
    row->ms = ms[1];
    row->value = result.price;
    row->bytes = row->unchecked = 0;
    row->difference = row->ms_messages = row->ms_alone = row->speedup = -1;
}

static int devices;
static World world;

/* How many processes MPI has started, and which of them this is; without MPI 1 and 0. */
static int processes_of(int *rank)
{
    int processes = 1;
    *rank = 0;
#ifdef BS3D_GPUS_MPI
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
#endif
    return processes;
}

/* A world of ranks ranks on gpus GPUs; of several processes each has one. */
static void make_world(World *w, int ranks, int gpus, int by_nccl)
{
    memset(w, 0, sizeof *w);
    w->ranks = w->count = ranks;
    const int processes = processes_of(&w->first);
    if (ranks > MOST_RANKS || processes > MOST_RANKS) die("more than %d ranks", MOST_RANKS);
    if (processes > 1) {
        w->ranks = processes;
        w->count = 1;
        w->local->rank = w->first;
        w->by_nccl = 1;
#ifdef BS3D_GPUS_MPI
        MPI_Comm machine;
        int place;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
        MPI_Comm_rank(machine, &place);
        MPI_Comm_free(&machine);
        w->local->device = place % devices;
#endif
        return;
    }
    for (int i = 0; i < ranks; i++) {
        w->local[i].rank = i;
        w->local[i].device = i % gpus;
    }
    w->by_nccl = by_nccl && ranks > 1 && ranks <= gpus;
}

/* The model problem: ADI in steps of 1/2000 year; explicit in steps as long as they may be. */
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

#ifndef BS3D_GPUS_NO_MAIN
/* ---- the table
   ---------------------------------------------------------------------------------------------------- */

static FILE *csv;
static int is_table = 1;
static double copy_speed; /* bytes a second, read and written, on one GPU */

static void heading(void)
{
    char machine[300] = "tests/simt, no GPU", date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
#ifdef __CUDACC__
    cudaDeviceProp device;
    int driver, devices;
    check(cudaGetDeviceCount(&devices));
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaDriverGetVersion(&driver));
    int used =
        snprintf(machine, sizeof machine, "%d x %s, CUDA driver %d.%d, nvcc %d.%d.%d", devices, device.name,
                 driver / 1000, driver % 100 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
#ifdef BS3D_GPUS_NCCL
    int version;
    check(ncclGetVersion(&version));
    snprintf(machine + used, sizeof machine - (size_t)used, ", NCCL %d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
#endif
    (void)used;
#endif
    FILE *const to[2] = {is_table ? stdout : NULL, csv};
    for (int i = 0; i < 2; i++) {
        if (!to[i]) continue;
        fprintf(to[i], "# %s, %s, %s\n", machine, BENCH_FLAGS, date);
        if (copy_speed > 0)
            fprintf(to[i], "# device-to-device copy of 1 GiB: %.1f GB/s read and written\n", 1e-9 * copy_speed);
    }
    if (csv)
        fprintf(csv, "scaling,engine,precision,nx,ny,nz,gpus,slabs,by,deep,steps,ms_per_step,points_per_s,pct_of_limit,"
                     "speedup,bytes_sent_per_step,us_messages,us_alone,pct_hidden,value,difference\n");
    if (is_table)
        printf("scaling engine   prec            grid gpus slabs by     deep  ms a step  Gpoints/s  %% limit speedup  "
               "bytes sent us messages %% hidden  value             difference\n");
}

/* A number as text, empty if it is negative: not known. */
static const char *text(char *to, size_t size, const char *format, double number)
{
    *to = 0;
    if (!(number < 0)) snprintf(to, size, format, number);
    return to;
}

static void print_row(const Row *r)
{
    char grid[40], field[9][40];
    const double points = (double)r->points[0] * r->points[1] * r->points[2];
    const double speed = r->ms > 0 ? 1e3 * points / r->ms : -1, size = r->precision[1] == '3' ? 4 : 8;
    const double limit = copy_speed > 0 && speed > 0 ? 100 * 2 * size * speed / copy_speed / r->gpus : -1;
    double hidden = r->ms_messages > 0 && r->ms_alone > 0 ? 100 * (1 - (r->ms - r->ms_alone) / r->ms_messages) : -1;
    if (hidden > 100) hidden = 100;
    if (r->ms_messages > 0 && r->ms_alone > 0 && hidden < 0) hidden = 0;
    snprintf(grid, sizeof grid, "%dx%dx%d", r->points[0], r->points[1], r->points[2]);
    text(field[0], sizeof field[0], "%.6g", r->ms);
    text(field[1], sizeof field[1], "%.5g", speed);
    text(field[2], sizeof field[2], "%.1f", limit);
    text(field[3], sizeof field[3], "%.3f", r->speedup);
    text(field[4], sizeof field[4], "%.1f", r->ms_messages < 0 ? -1 : 1e3 * r->ms_messages);
    text(field[5], sizeof field[5], "%.1f", r->ms_alone < 0 ? -1 : 1e3 * r->ms_alone);
    text(field[6], sizeof field[6], "%.0f", hidden);
    text(field[7], sizeof field[7], "%.3e", r->difference);
    if (csv)
        fprintf(csv, "%s,%s,%s,%d,%d,%d,%d,%d,%s,%d,%d,%s,%s,%s,%s,%.0f,%s,%s,%s,%.17g,%s\n", r->scaling, r->engine,
                r->precision, r->points[0], r->points[1], r->points[2], r->gpus, r->slabs, r->by, r->deep, r->steps,
                field[0], field[1], field[2], field[3], r->bytes, field[4], field[5], field[6], r->value, field[7]);
    text(field[1], sizeof field[1], "%.3f", speed < 0 ? -1 : 1e-9 * speed);
    if (r->unchecked) snprintf(field[7], sizeof field[7], "not checked");
    if (is_table)
        printf("%-7s %-8s %s %15s %4d %5d %-6s %4d %10s %10s %8s %7s %11.0f %11s %8s  %-17.10g %s\n", r->scaling,
               r->engine, r->precision, grid, r->gpus, r->slabs, r->by, r->deep, field[0], field[1], field[2], field[3],
               r->bytes, field[4], field[6], r->value, field[7]);
    fflush(stdout);
    if (csv) fflush(csv);
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static int wanted[2] = {1, 1}, wanted_engine[2] = {1, 1}, size[3], steps_given, gpus_given, slabs_given, deep_given;
static int copies, in_turn, checked, lose;

static void measure_copy(size_t bytes)
{
    cudaEvent_t start, stop;
    void *from;
    float ms = 0, least = 0;
    check(cudaSetDevice(0));
    check(cudaMalloc(&from, 2 * bytes));
    check(cudaMemset(from, 1, 2 * bytes));
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    for (int n = 0; n < 6; n++) {
        check(cudaEventRecord(start, 0));
        check(cudaMemcpyAsync((char *)from + bytes, from, bytes, cudaMemcpyDeviceToDevice, 0));
        check(cudaEventRecord(stop, 0));
        check(cudaEventSynchronize(stop));
        check(cudaEventElapsedTime(&ms, start, stop));
        if (n == 1 || (n > 1 && ms < least)) least = ms;
    }
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    check(cudaFree(from));
    copy_speed = 2e3 * (double)bytes / (double)least;
}

static double alone_ms[2][2]; /* a step of 512^3 points on one GPU: by engine and precision */

/* A march on the world, and its row. */
static void one(int implicit, int is_double, const int *points, int gpus, const char *scaling, int timed, int check_it,
                int usual_steps)
{
    const int steps = steps_given ? steps_given : usual_steps;
    const bs3d_problem problem = model_problem(implicit, points, steps);
    const Options options = {implicit, implicit ? 1 : deep_given ? deep_given : 8, in_turn, 0, lose, !timed};
    Row row;
    row.scaling = scaling;
    row.gpus = gpus;
    if (is_double)
        measured_march<Double>(&world, &problem, &options, timed, check_it, &row);
    else
        measured_march<Single>(&world, &problem, &options, timed, check_it, &row);
    double *alone = &alone_ms[implicit][is_double];
    if (world.ranks == 1) *alone = row.ms;
    row.speedup = *alone > 0 && row.ms > 0 ? *alone / row.ms : -1;
    if (world.first == 0) print_row(&row);
}

static void one_launch(int implicit, int is_double, const int *points, int steps)
{
    const bs3d_problem problem = model_problem(implicit, points, steps);
    Row row;
    row.scaling = "one";
    row.gpus = 1;
    if (is_double)
        launched<Double>(&world, &problem, implicit, &row);
    else
        launched<Single>(&world, &problem, implicit, &row);
    if (world.ranks > 1) alone_ms[implicit][is_double] = row.ms;
    if (world.first == 0) print_row(&row);
}

/* The table of docs/gpus.md: n^3 points on all GPUs (strong), and on each (weak). Several processes are as many GPUs,
   by NCCL, and a GPU alone is the launch on that of each. */
static void measure(int n, int most_gpus, int processes)
{
    for (int gpus = processes; gpus <= most_gpus; gpus *= 2)
        for (int by_nccl = gpus > 1; by_nccl >= (processes > 1); by_nccl--) {
#ifndef BS3D_GPUS_NCCL
            if (by_nccl) continue;
#endif
            make_world(&world, gpus, gpus, by_nccl);
            exchange_open(&world);
            for (int implicit = 0; implicit < 2; implicit++)
                for (int is_double = 0; is_double < 2; is_double++) {
                    const int strong[3] = {n, n, n}, weak[3] = {n, n, n * gpus}, steps = implicit ? 48 : 128;
                    if (!wanted[is_double] || !wanted_engine[implicit]) continue;
                    if (gpus == processes) one_launch(implicit, is_double, strong, steps);
                    one(implicit, is_double, strong, gpus, gpus == 1 ? "one" : "strong", 1, 1, steps);
                    if (gpus > 1) one(implicit, is_double, weak, gpus, "weak", 1, 1, steps);
                }
            exchange_close(&world);
        }
}

/* What a message takes: between neighbours in a chain of all GPUs, both ways at once. */
static void measure_links(int gpus)
{
    enum { REPEATS = 50 };
    if (gpus < 2) return;
    if (csv) fprintf(csv, "by,gpus,bytes,us,gbytes_per_s\n");
    for (int by_nccl = 1; by_nccl >= 0; by_nccl--) {
#ifndef BS3D_GPUS_NCCL
        if (by_nccl) continue;
#endif
        void *memory[MOST_RANKS];
        const size_t most = (size_t)1 << 26;
        make_world(&world, gpus, gpus, by_nccl);
        exchange_open(&world);
        for (int i = 0; i < world.count; i++) {
            here(world.local + i);
            check(cudaMalloc(memory + i, 4 * most));
        }
        for (size_t bytes = 1024; bytes <= most; bytes *= 4) {
            float ms = 0;
            for (int repeat = -5; repeat < REPEATS; repeat++) {
                if (repeat == 0) {
                    check(cudaSetDevice(world.local->device));
                    check(cudaStreamSynchronize(world.local->transfer));
                    check(cudaEventRecord(world.local->start, world.local->transfer));
                }
                exchange_begin(&world);
                for (int i = 0; i < world.count; i++)
                    for (int up = 0; up < 2; up++) {
                        Rank *r = world.local + i;
                        char *at = (char *)memory[i] + (size_t)up * 2 * most;
                        const bs3d_message message = {at, at + most, bytes};
                        const int peer = r->rank + (up ? 1 : -1);
                        if (peer >= 0 && peer < world.ranks) exchange_message(&world, r, peer, 0, &message);
                    }
                exchange_end(&world);
            }
            check(cudaSetDevice(world.local->device));
            check(cudaEventRecord(world.local->stop, world.local->transfer));
            await(&world, world.local->stop);
            check(cudaEventElapsedTime(&ms, world.local->start, world.local->stop));
            const double us = 1e3 * (double)ms / REPEATS, speed = 1e-3 * (double)bytes / us;
            if (csv) fprintf(csv, "%s,%d,%zu,%.2f,%.2f\n", by_nccl ? "nccl" : "copies", gpus, bytes, us, speed);
            if (is_table)
                printf("%-6s %2d GPUs %10zu bytes %9.2f us %8.2f GB/s\n", by_nccl ? "nccl" : "copies", gpus, bytes, us,
                       speed);
        }
        for (int i = 0; i < world.count; i++) {
            here(world.local + i);
            check(cudaFree(memory[i]));
        }
        exchange_close(&world);
    }
}

/* Tiny grids on 1, 2 and 3 slabs, against bs3d.h's own launches: returns how many are not the same. */
static int tiny(void)
{
    static const int points[3] = {20, 18, 36};
    int bad = 0;
    for (int ranks = 1; ranks <= 3; ranks++) {
        make_world(&world, ranks, devices, 0);
        exchange_open(&world);
        for (int implicit = 0; implicit < 2; implicit++)
            for (int is_double = 0; is_double < 2; is_double++) {
                const bs3d_problem problem = model_problem(implicit, points, 5);
                const Options options = {implicit, implicit ? 1 : 1 + ranks, 0, implicit ? 2 : 0, 0, 0};
                Row row;
                row.scaling = "tiny";
                row.gpus = row.speedup = 1;
                if (is_double)
                    measured_march<Double>(&world, &problem, &options, 0, 1, &row);
                else
                    measured_march<Single>(&world, &problem, &options, 0, 1, &row);
                print_row(&row);
                if (!(row.difference <= (is_double ? 1e-12 : 1e-5))) bad++;
            }
        exchange_close(&world);
    }
    if (bad) fprintf(stderr, "bs3d_gpus: %d rows differ from one GPU's\n", bad);
    return bad;
}

/* argument: what was not understood, null: something is missing */
static int usage(const char *argument)
{
    fprintf(stderr, "bs3d_gpus: %s%s\n", argument ? "not understood: " : "something is missing at the end",
            argument ? argument : "");
    fprintf(stderr, "usage: bs3d_gpus [explicit|adi] [f32|f64] [--size N [NY NZ]] [--steps N] [--gpus N] [--slabs N] "
                    "[--deep N]\n                 [--copies] [--in-turn] [--check] [--measure] [--links] "
                    "[--timeout SECONDS] [--lose STEP] [--csv [FILE]]\n");
    return 2;
}

/* The positive number that an argument is, or 0. */
static int number(const char *argument)
{
    char *end = NULL;
    long n = argument ? strtol(argument, &end, 10) : 0;
    return end && !*end && n > 0 && n < 10000000 ? (int)n : 0;
}

static int run(int argc, char **argv)
{
    const char *file = NULL;
    int measuring = 0, links = 0, bad = 0;
    struct {
        const char *name;
        int *value;
    } const numbers[] = {{"--steps", &steps_given},
                         {"--gpus", &gpus_given},
                         {"--slabs", &slabs_given},
                         {"--deep", &deep_given},
                         {"--lose", &lose}},
            flags[] = {{"--copies", &copies},
                       {"--in-turn", &in_turn},
                       {"--check", &checked},
                       {"--measure", &measuring},
                       {"--links", &links}};
    for (int i = 1; i < argc; i++) { /* argv ends with a null pointer, which is no number */
        int known = 0;
        for (const auto &flag : flags)
            if (!strcmp(argv[i], flag.name)) *flag.value = known = 1;
        for (const auto &each : numbers)
            if (!known && !strcmp(argv[i], each.name)) {
                if (!(*each.value = number(argv[++i]))) return usage(argv[i]);
                known = 1;
            }
        if (known) continue;
        if (!strcmp(argv[i], "f32") || !strcmp(argv[i], "f64")) {
            wanted[argv[i][1] == '3'] = 0;
        } else if (!strcmp(argv[i], "explicit") || !strcmp(argv[i], "adi")) {
            wanted_engine[argv[i][0] == 'e'] = 0;
        } else if (!strcmp(argv[i], "--size")) {
            size[0] = size[1] = size[2] = number(argv[i + 1]);
            if (!size[0]) return usage(argv[i + 1]);
            i++;
            if (i + 2 < argc && number(argv[i + 1]) && number(argv[i + 2])) {
                size[1] = number(argv[++i]);
                size[2] = number(argv[++i]);
            }
        } else if (!strcmp(argv[i], "--timeout")) {
            if (!(timeout_seconds = number(argv[++i]))) return usage(argv[i]);
        } else if (!strcmp(argv[i], "--csv")) {
            if (i + 1 < argc && strncmp(argv[i + 1], "--", 2))
                file = argv[++i];
            else
                csv = stdout, is_table = 0;
        } else {
            return usage(argv[i]);
        }
    }
    int rank;
    const int processes = processes_of(&rank);
    if (processes > 1 && (links || copies || gpus_given || slabs_given))
        return usage("--links, --copies, --gpus or --slabs, which are for one process");
    if (file && rank == 0 && !(csv = fopen(file, "w"))) {
        perror(file);
        return 2;
    }
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
        fprintf(stderr, "bs3d_gpus: no GPU\n");
        return 3;
    }
    signal(SIGALRM, on_alarm);
    now_doing("starting");
    const int gpus = processes > 1 ? processes : gpus_given && gpus_given < devices ? gpus_given : devices;
    const int ranks = slabs_given ? slabs_given : gpus;
    if (is_gpu) measure_copy((size_t)1 << 30);
    if (links) {
        measure_links(gpus);
    } else if (measuring) {
        if (rank == 0) heading();
        measure(size[0] ? size[0] : 512, gpus, processes);
    } else {
        make_world(&world, ranks, gpus, !copies);
#ifndef BS3D_GPUS_NCCL
        world.by_nccl = 0;
#endif
        if (rank == 0) heading();
        if (!size[0] && is_gpu) size[0] = size[1] = size[2] = 256, checked = 1;
        if (!size[0]) bad = tiny();
        if (size[0]) exchange_open(&world);
        for (int implicit = 0; implicit < 2 && size[0]; implicit++)
            for (int is_double = 0; is_double < 2; is_double++)
                if (wanted[is_double] && wanted_engine[implicit])
                    one(implicit, is_double, size, world.ranks < gpus ? world.ranks : gpus, "asked", 1, checked, 64);
        if (size[0]) exchange_close(&world);
    }
    alarm(0);
    if (file && csv && fclose(csv)) {
        perror(file);
        return 1;
    }
    return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
#ifdef BS3D_GPUS_MPI
    MPI_Init(&argc, &argv);
#endif
    int status = run(argc, argv);
#ifdef BS3D_GPUS_MPI
    if (status) MPI_Abort(MPI_COMM_WORLD, status); /* the others may wait for this one */
    MPI_Finalize();
#endif
    return status;
}
#endif
