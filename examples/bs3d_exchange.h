/* bs3d_exchange.h - three ways for ranks of bs3d.h to send to each other: by copies, by NCCL, by MPI.
   MIT licence, see LICENSE.

       static Exchange x;
       int status = exchange_open(&x, 4, devices, exchange_best(4, devices));
       ...                                        the march: bs3d_ranks_plan takes &x.ranks
       exchange_close(&x);

   EXCHANGE_COPIES, for one process with all ranks, is always available. EXCHANGE_NCCL needs -DBS3D_GPUS_NCCL; one
   process has all ranks, or MPI starts a process for each rank. EXCHANGE_MPI needs -DBS3D_GPUS_MPI and an MPI library
   that accepts device addresses; with it, the host waits for the messages of each step. The program calls MPI_Init and
   MPI_Finalize. Functions return 0 or a status: of bs3d.h, of CUDA, of NCCL, or one of those below. exchange_string
   returns the text of any of them. */
#ifndef BS3D_EXCHANGE_H
#define BS3D_EXCHANGE_H

#include "bs3d.h"

#ifdef BS3D_GPUS_MPI
#include <mpi.h>
#endif
#ifdef BS3D_GPUS_NCCL
#include <nccl.h>
#endif
#include <vector>

enum { MOST_RANKS = 64 };
enum { TOO_MANY_RANKS = 900, NOBODY_LISTENS, CUDA_STATUS = 1000, NCCL_STATUS = 10000 };
enum { EXCHANGE_COPIES, EXCHANGE_NCCL, EXCHANGE_MPI };

/* A message that a rank of this process has announced: its n-th to rank `peer`. */
struct Posted {
    const bs3d_rank *from;
    int peer, n;
    bs3d_message message;
};

struct Exchange {
    bs3d_ranks ranks;
    bs3d_rank local[MOST_RANKS];
    std::vector<Posted> posted;
#ifdef BS3D_GPUS_NCCL
    ncclComm_t comm[MOST_RANKS];
#endif
};

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Keeps the first error. */
static void exchange_note(int *status, cudaError_t error)
{
    if (!*status && error != cudaSuccess) *status = CUDA_STATUS + (int)error;
}

/* Returns the text of a status that an exchange, or a march with one, has returned. */
static inline const char *exchange_string(int status)
{
#ifdef BS3D_GPUS_NCCL
    if (status >= NCCL_STATUS) return ncclGetErrorString((ncclResult_t)(status - NCCL_STATUS));
#endif
    if (status == TOO_MANY_RANKS) return "more than 64 ranks, or no GPU for them";
    if (status == NOBODY_LISTENS) return "a rank sends to one that does not listen";
    if (status >= CUDA_STATUS) return cudaGetErrorString((cudaError_t)(status - CUDA_STATUS));
    return bs3d_status_string(status);
}

/* ---- by copies within a process that has all ranks --------------------------------------------------------------- */

static int posted_begin(void *context)
{
    ((Exchange *)context)->posted.clear();
    return 0;
}

static int posted_message(void *context, const bs3d_rank *from, int peer, int n, const bs3d_message *message)
{
    ((Exchange *)context)->posted.push_back({from, peer, n, *message});
    return 0;
}

/* Returns the other side of a message; null if the peer has announced none. */
static const Posted *other_side(const Exchange *x, const Posted &out)
{
    for (const Posted &in : x->posted)
        if (in.from->rank == out.peer && in.peer == out.from->rank && in.n == out.n) return &in;
    return NULL;
}

/* Records the position of each rank's transfer stream in the rank's event. */
static void record_all(int *status, const Exchange *x)
{
    for (int i = 0; i < x->ranks.count; i++) {
        exchange_note(status, cudaSetDevice(x->local[i].device));
        exchange_note(status, cudaEventRecord(x->local[i].event, x->local[i].transfer));
    }
}

/* A copy waits until the receiver's transfer stream has come here too; that stream then waits for the copy. */
static int copies_end(void *context)
{
    const Exchange *x = (const Exchange *)context;
    int status = 0;
    record_all(&status, x);
    for (const Posted &out : x->posted) {
        const Posted *in = other_side(x, out);
        const bs3d_rank *from = out.from;
        if (!in) return NOBODY_LISTENS;
        exchange_note(&status, cudaSetDevice(from->device));
        exchange_note(&status, cudaStreamWaitEvent(from->transfer, in->from->event, 0));
        exchange_note(&status, cudaMemcpyPeerAsync(in->message.receive, in->from->device, out.message.send,
                                                   from->device, out.message.bytes, from->transfer));
    }
    record_all(&status, x);
    for (const Posted &out : x->posted) {
        const bs3d_rank *to = other_side(x, out)->from;
        exchange_note(&status, cudaSetDevice(to->device));
        exchange_note(&status, cudaStreamWaitEvent(to->transfer, out.from->event, 0));
    }
    return status;
}

/* ---- by NCCL ----------------------------------------------------------------------------------------------------- */

#ifdef BS3D_GPUS_NCCL
static int nccl_status(ncclResult_t result)
{
    return result == ncclSuccess ? 0 : NCCL_STATUS + (int)result;
}

static int nccl_begin(void *)
{
    return nccl_status(ncclGroupStart());
}

static int nccl_message(void *context, const bs3d_rank *from, int peer, int, const bs3d_message *m)
{
    const Exchange *x = (const Exchange *)context;
    const ncclComm_t comm = x->comm[from - x->local];
    const int status = nccl_status(ncclSend(m->send, m->bytes, ncclChar, peer, comm, from->transfer));
    return status ? status : nccl_status(ncclRecv(m->receive, m->bytes, ncclChar, peer, comm, from->transfer));
}

static int nccl_end(void *)
{
    return nccl_status(ncclGroupEnd());
}

static int nccl_open(Exchange *x)
{
    int devices[MOST_RANKS];
    for (int i = 0; i < x->ranks.count; i++) devices[i] = x->local[i].device;
#ifdef BS3D_GPUS_MPI
    if (x->ranks.count < x->ranks.ranks) {
        ncclUniqueId id;
        int status = x->local->rank ? 0 : nccl_status(ncclGetUniqueId(&id));
        MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
        exchange_note(&status, cudaSetDevice(*devices));
        return status ? status : nccl_status(ncclCommInitRank(x->comm, x->ranks.ranks, id, x->local->rank));
    }
#endif
    return nccl_status(ncclCommInitAll(x->comm, x->ranks.count, devices));
}
#endif

/* ---- by MPI, from device memory: each process has one rank ------------------------------------------------------- */

#ifdef BS3D_GPUS_MPI
/* MPI takes no stream, so the host waits for the outer part, then for the messages, while the inner part runs. */
static int mpi_arrive(void *context)
{
    const Exchange *x = (const Exchange *)context;
    std::vector<MPI_Request> requests;
    int status = 0;
    exchange_note(&status, cudaSetDevice(x->local->device));
    exchange_note(&status, cudaStreamSynchronize(x->local->transfer));
    for (const Posted &p : x->posted) {
        const int bytes = (int)p.message.bytes;
        MPI_Request request[2];
        MPI_Irecv(p.message.receive, bytes, MPI_BYTE, p.peer, p.n, MPI_COMM_WORLD, request);
        MPI_Isend(p.message.send, bytes, MPI_BYTE, p.peer, p.n, MPI_COMM_WORLD, request + 1);
        requests.insert(requests.end(), request, request + 2);
    }
    MPI_Waitall((int)requests.size(), requests.data(), MPI_STATUSES_IGNORE);
    return status;
}

static int mpi_sum(void *, double *numbers, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return 0;
}
#endif

/* Returns how many processes MPI has started; *number receives the number of this one. Without MPI they are 1 and 0. */
static int exchange_processes(int *number)
{
    int processes = 1;
    *number = 0;
#ifdef BS3D_GPUS_MPI
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_rank(MPI_COMM_WORLD, number);
#endif
    return processes;
}

/* Of the ways compiled in, returns the best for this many ranks and GPUs. NCCL needs a GPU for each rank. */
static inline int exchange_best(int ranks, int devices)
{
    int number, several = exchange_processes(&number) > 1;
#ifdef BS3D_GPUS_NCCL
    if (several || (ranks > 1 && ranks <= devices)) return EXCHANGE_NCCL;
#endif
    (void)ranks, (void)devices;
    return several ? EXCHANGE_MPI : EXCHANGE_COPIES;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* Makes a rank's streams and event. The stream of the inner part has a low priority, so that blocks of the outer part
   and of NCCL come first. */
static void open_rank(int *status, bs3d_rank *r)
{
    int least, greatest;
    exchange_note(status, cudaSetDevice(r->device));
    exchange_note(status, cudaDeviceGetStreamPriorityRange(&least, &greatest));
    exchange_note(status, cudaStreamCreateWithPriority(&r->march, cudaStreamNonBlocking, greatest));
    exchange_note(status, cudaStreamCreateWithPriority(&r->inner, cudaStreamNonBlocking, least));
    exchange_note(status, cudaStreamCreateWithPriority(&r->transfer, cudaStreamNonBlocking, greatest));
    exchange_note(status, cudaEventCreateWithFlags(&r->event, cudaEventDisableTiming));
}

/* Lets GPUs copy directly from each other where they can; elsewhere copies pass through the host. */
static void open_peers(int *status, const Exchange *x)
{
    for (int i = 0; i < x->ranks.count; i++)
        for (int j = 0; j < x->ranks.count; j++) {
            int can = 0, a = x->local[i].device, b = x->local[j].device;
            if (a != b) exchange_note(status, cudaDeviceCanAccessPeer(&can, a, b));
            exchange_note(status, cudaSetDevice(a));
            if (can && cudaDeviceEnablePeerAccess(b, 0) != cudaSuccess) cudaGetLastError(); /* it was enabled already */
        }
}

/* Numbers the ranks of this process and chooses their devices. A single process has all ranks, and deals them out to
   `devices` GPUs. Each of several processes has one rank, on a GPU of its machine. */
static int place_ranks(Exchange *x, int ranks, int devices)
{
    int number;
    const int processes = exchange_processes(&number), several = processes > 1;
    if (ranks > MOST_RANKS || processes > MOST_RANKS || devices < 1) return TOO_MANY_RANKS;
    x->ranks = {several ? processes : ranks, several ? 1 : ranks, x->local, {}};
    for (int i = 0; i < ranks && !several; i++) x->local[i].rank = i, x->local[i].device = i % devices;
#ifdef BS3D_GPUS_MPI
    if (several) {
        MPI_Comm machine;
        int place;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
        MPI_Comm_rank(machine, &place);
        MPI_Comm_free(&machine);
        x->local->rank = number;
        x->local->device = place % devices;
    }
#endif
    return 0;
}

/* Returns the functions of one way to send. `message` is null if that way is not compiled in, or does not suit the
   number of processes: copies need a single one, MPI several. */
static bs3d_exchange exchange_by(Exchange *x, int by)
{
    const int several = x->ranks.count < x->ranks.ranks;
    bs3d_exchange exchange = {x, posted_begin, NULL, NULL, NULL, NULL};
    if (by == EXCHANGE_COPIES && !several) exchange.message = posted_message, exchange.end = copies_end;
#ifdef BS3D_GPUS_NCCL
    if (by == EXCHANGE_NCCL) exchange = {x, nccl_begin, nccl_message, nccl_end, NULL, NULL};
#endif
#ifdef BS3D_GPUS_MPI
    if (by == EXCHANGE_MPI && several) exchange.message = posted_message, exchange.arrive = mpi_arrive;
    if (several) exchange.sum = mpi_sum;
#endif
    return exchange;
}

/* Opens the ranks of this process and their way to send. */
static inline int exchange_open(Exchange *x, int ranks, int devices, int by)
{
    int status = place_ranks(x, ranks, devices);
    if (status) return status;
    x->ranks.exchange = exchange_by(x, by);
    if (!x->ranks.exchange.message) return BS3D_BAD_ARGUMENT;
    for (int i = 0; i < x->ranks.count; i++) open_rank(&status, x->local + i);
    open_peers(&status, x);
#ifdef BS3D_GPUS_NCCL
    if (by == EXCHANGE_NCCL && !status) status = nccl_open(x);
#endif
    return status;
}

/* Destroys what exchange_open made, after the ranks have finished. */
static inline int exchange_close(Exchange *x)
{
    int status = 0;
    for (int i = 0; i < x->ranks.count; i++) {
        const bs3d_rank *r = x->local + i;
        exchange_note(&status, cudaSetDevice(r->device));
#ifdef BS3D_GPUS_NCCL
        if (x->ranks.exchange.begin == nccl_begin && !status) status = nccl_status(ncclCommDestroy(x->comm[i]));
#endif
        exchange_note(&status, cudaStreamDestroy(r->march));
        exchange_note(&status, cudaStreamDestroy(r->inner));
        exchange_note(&status, cudaStreamDestroy(r->transfer));
        exchange_note(&status, cudaEventDestroy(r->event));
    }
    return status;
}

#endif
