/* exchange.h - a room of bs3d.h: what a program says of its ranks, and how they send. MIT licence, see LICENSE. */

/* A GPU's slab and the streams in which it is marched; all of them the caller's. */
typedef struct {
    int rank;              /* the number of the slab, from 0 */
    int device;            /* ranks may share one */
    cudaStream_t march;    /* the march itself */
    cudaStream_t inner;    /* the inner part, which may wait: of lower priority than the others, if there are any */
    cudaStream_t transfer; /* messages */
    cudaEvent_t event;     /* orders the three, each record being waited for at once: the exchange may use it too */
} bs3d_rank;

/* How messages get from rank to rank: functions of the caller's. Each gets `context`, and returns 0 or a status of its
   own, which the function of the march that called it returns at once. A step on more than one rank calls begin,
   message for each message, end, and, when all that may run meanwhile is enqueued, arrive. */
typedef struct {
    void *context;
    int (*begin)(void *context); /* may be null, as end, arrive and sum */
    /* Between begin and end: sends m->send to rank `peer`, and receives at m->receive as many bytes of that rank's n-th
       message to this one; in r->transfer, or on the host in arrive. */
    int (*message)(void *context, const bs3d_rank *r, int peer, int n, const bs3d_message *m);
    int (*end)(void *context);
    int (*arrive)(void *context); /* after it what r->transfer has is all that a message's arrival depends on */
    /* Makes each number its sum over all processes. Null: this process has all ranks. */
    int (*sum)(void *context, double *numbers, int count);
} bs3d_exchange;

/* All ranks of a march, those of this process, and how they send. */
typedef struct {
    int ranks;
    int count; /* of them are in this process */
    const bs3d_rank *local;
    bs3d_exchange exchange;
} bs3d_ranks;

/* How they march. Zeros are an explicit march in the usual way. */
typedef struct {
    int implicit;   /* 1: implicit2, 0: explicit4 */
    int halo;       /* explicit: planes of its neighbours that a slab has copies of, so that it need send but once in so
                       many steps; 0: 8, or a slab's own if these are fewer */
    int partitions; /* implicit: that each slab is cut into; 0: bs3d_slab_partitions of the GPUs */
    int in_turn;    /* 1: sends and computes one after the other, 0: at the same time */
} bs3d_ranks_options;

/* Makes stream `then` of a rank wait for what stream `first` has now. Returns BS3D_OK or BS3D_LAUNCH_FAILED. */
TB_HOST int bs3d_p_rank_order(const bs3d_rank *r, cudaStream_t first, cudaStream_t then)
{
    return cudaEventRecord(r->event, first) == cudaSuccess && cudaStreamWaitEvent(then, r->event, 0) == cudaSuccess
               ? BS3D_OK
               : BS3D_LAUNCH_FAILED;
}

extern "C++" {
/* Calls of(i, rank) for each rank i here, its device being the current one, until *status says that something failed.
   Leaves what it returned in *status. */
template <class call>
static void bs3d_p_each_rank(int *status, const bs3d_ranks *w, const call &of)
{
    for (int i = 0; i < w->count && *status == BS3D_OK; i++)
        *status = cudaSetDevice(w->local[i].device) == cudaSuccess ? of(i, w->local + i) : BS3D_LAUNCH_FAILED;
}
}
