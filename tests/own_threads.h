/* own_threads.h - MODEL_host_worker_f64 called by threads of the test's own, in two and in three factors.
   MIT licence, see LICENSE. */
#ifndef OWN_THREADS_H
#define OWN_THREADS_H

#include <pthread.h>

typedef int worker_function(const fd_batch *batch, const case_parameters *parameters, int worker, int workers,
                            void *memory, size_t bytes, void (*meet)(void *context), void *context);

typedef struct {
    worker_function *function;
    const fd_batch *batch;
    const case_parameters *parameters;
    void *memory;
    size_t bytes;
    pthread_barrier_t *barrier;
    int worker, workers, call;
} part;

static void meet(void *context)
{
    pthread_barrier_wait((pthread_barrier_t *)context);
}

static void *work(void *argument)
{
    part *p = (part *)argument;
    p->call = p->function(p->batch, p->parameters, p->worker, p->workers, p->memory, p->bytes, meet, p->barrier);
    return NULL;
}

/* Solves a batch by `count` threads, which share each problem. */
static void by_threads(worker_function *function, const fd_batch *batch, const case_parameters *parameters,
                       size_t bytes, int count)
{
    enum { MOST = 9 };
    pthread_barrier_t barrier;
    pthread_t thread[MOST];
    part parts[MOST];
    void *memory = case_guarded(bytes);
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (int w = count - 1; w >= 0; w--) {
        const part own = {function, batch, parameters, memory, bytes, &barrier, w, count, -99};
        parts[w] = own;
        if (w > 0) CHECK(!pthread_create(&thread[w], NULL, work, &parts[w]), "a thread");
    }
    work(&parts[0]);
    for (int w = 0; w < count; w++) {
        if (w > 0) pthread_join(thread[w], NULL);
        CHECK(parts[w].call == FD_OK, "worker %d of %d: %d", w, count, parts[w].call);
    }
    pthread_barrier_destroy(&barrier);
    CHECK(case_release(memory, bytes), "%d workers: a guard has been written", count);
}

#endif
