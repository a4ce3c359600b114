/* exchange.h - a room of bs3d.h: a program's ranks, and how they send. MIT licence, see LICENSE. */

/* A slab's number, its GPU, and the streams and event of its march, which the caller owns. */
typedef struct {
    int rank;              /* the number of the slab, from 0 */
    int device;            /* ranks may share one */
    cudaStream_t march;    /* the march itself */
    cudaStream_t inner;    /* the inner part; since it is not urgent, create this stream with a lower priority than the
                              others */
    cudaStream_t transfer; /* messages */
    cudaEvent_t event;     /* orders the streams. The march makes a stream wait right after each record, so the exchange
                              may use the event, too */
} bs3d_rank;

/* The caller's functions that carry messages from rank to rank. Each receives `context`, and returns 0 or a status of
   its own. If that is not 0, the march's function returns it at once, unless it has an earlier error to return. A step
   that sends messages calls begin, then message for each of them, then end. It calls arrive when all work that can
   overlap the transfers is enqueued. */
typedef struct {
    void *context;
    int (*begin)(void *context); /* may be null, like end, arrive and sum */
    /* Called between begin and end. Sends message n (0 or 1) to rank `peer`: m->bytes bytes at m->send. Receives
       message n from `peer`, equally long, at m->receive. The transfer runs in r->transfer, or on the host in
       arrive. */
    int (*message)(void *context, const bs3d_rank *r, int peer, int n, const bs3d_message *m);
    int (*end)(void *context);
    int (*arrive)(void *context); /* after it, messages have arrived once the work in r->transfer is done */
    /* Replaces each number by its sum over all processes. Null: this process holds all ranks. */
    int (*sum)(void *context, double *numbers, int count);
} bs3d_exchange;

/* The ranks of a march, those of this process, and their exchange. */
typedef struct {
    int ranks;
    int count; /* how many of them are in this process */
    const bs3d_rank *local;
    bs3d_exchange exchange;
} bs3d_ranks;

/* The choices for a march on several ranks. All zeros: an explicit march with default values. */
typedef struct {
    int implicit;   /* 1: implicit2, 0: explicit4 */
    int halo;       /* explicit: how many planes of each neighbour a slab copies, 1 to 32, and how many steps it takes
                       between messages (one fewer if a sweep takes two steps and halo is odd). 0: 8, or the
                       planes of the thinnest slab if fewer */
    int partitions; /* implicit: partitions of each slab, 1 to 8; 0: chosen by bs3d_slab_partitions */
    int in_turn;    /* 1: computes and sends one after the other; 0: overlaps them where it can */
} bs3d_ranks_options;

/* Makes a rank's stream `then` wait for the work that is now in its stream `first`. Returns BS3D_OK or
   BS3D_LAUNCH_FAILED. */
TB_HOST int bs3d_p_rank_order(const bs3d_rank *r, cudaStream_t first, cudaStream_t then)
{
    return cudaEventRecord(r->event, first) == cudaSuccess && cudaStreamWaitEvent(then, r->event, 0) == cudaSuccess
               ? BS3D_OK
               : BS3D_LAUNCH_FAILED;
}

/* Adds up numbers over all processes. A process that has failed takes part too, since the others wait for it. Returns
   `status` if that is an error, otherwise the status of the sum. */
TB_HOST int bs3d_p_ranks_sum(int status, const bs3d_ranks *w, double *numbers, int count)
{
    const int failed = w && w->exchange.sum ? w->exchange.sum(w->exchange.context, numbers, count) : BS3D_OK;
    return status ? status : failed;
}

extern "C++" {
/* Calls of(i, rank) for each rank i of this process, with its device as the current one. Sets *status to what a
   call returns, and stops unless that is BS3D_OK. Calls nothing if *status is an error at the start. */
template <class call>
static inline void bs3d_p_each_rank(int *status, const bs3d_ranks *w, const call &of)
{
    for (int i = 0; i < w->count && *status == BS3D_OK; i++)
        *status = cudaSetDevice(w->local[i].device) == cudaSuccess ? of(i, w->local + i) : BS3D_LAUNCH_FAILED;
}
}
