/* exchange.h - a room of bs3d.h: a program's ranks, and how they send. MIT licence, see LICENSE. */

/* A GPU's slab and the streams of its march. The caller owns the streams. */
typedef struct {
    int rank;              /* the number of the slab, from 0 */
    int device;            /* ranks may share one */
    cudaStream_t march;    /* the march itself */
    cudaStream_t inner;    /* the inner part, which is not urgent: of lower priority than the others, if the device
                              supports priorities */
    cudaStream_t transfer; /* messages */
    cudaEvent_t event;     /* orders the streams; a wait follows each record at once, so the exchange may reuse it */
} bs3d_rank;

/* The functions of the caller that carry messages from rank to rank. Each receives `context`, and returns 0 or a status
   of its own, which the calling function of the march returns at once. A step on more than one rank calls begin,
   message for each message, and end. Once all work that can overlap the transfers is enqueued, it calls arrive. */
typedef struct {
    void *context;
    int (*begin)(void *context); /* may be null, like end, arrive and sum */
    /* Between begin and end: sends m->send to rank `peer`, and receives, at m->receive, as many bytes of that rank's
       n-th message to this one. The transfer runs in r->transfer, or on the host in arrive. */
    int (*message)(void *context, const bs3d_rank *r, int peer, int n, const bs3d_message *m);
    int (*end)(void *context);
    int (*arrive)(void *context); /* once it returns, messages arrive when the work in r->transfer is done */
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
    int halo;       /* explicit: planes of each neighbour that a slab copies; it sends once in that many steps. 0: 8, or
                       a slab's own planes if fewer */
    int partitions; /* implicit: partitions of each slab; 0: chosen by bs3d_slab_partitions */
    int in_turn;    /* 1: sends and computes one after the other; 0: overlaps them */
} bs3d_ranks_options;

/* Makes stream `then` of a rank wait for the work that stream `first` holds now. Returns BS3D_OK or
   BS3D_LAUNCH_FAILED. */
TB_HOST int bs3d_p_rank_order(const bs3d_rank *r, cudaStream_t first, cudaStream_t then)
{
    return cudaEventRecord(r->event, first) == cudaSuccess && cudaStreamWaitEvent(then, r->event, 0) == cudaSuccess
               ? BS3D_OK
               : BS3D_LAUNCH_FAILED;
}

extern "C++" {
/* Calls of(i, rank) for each rank i of this process, with its device current, until a call fails. Leaves the returned
   status in *status. */
template <class call>
static void bs3d_p_each_rank(int *status, const bs3d_ranks *w, const call &of)
{
    for (int i = 0; i < w->count && *status == BS3D_OK; i++)
        *status = cudaSetDevice(w->local[i].device) == cudaSuccess ? of(i, w->local + i) : BS3D_LAUNCH_FAILED;
}
}
