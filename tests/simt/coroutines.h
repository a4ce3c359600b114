/* coroutines.h - each thread has a stack of its own, on which it runs until it waits or exits. */
#ifndef SIMT_COROUTINES_H
#define SIMT_COROUTINES_H

#include "machine.h"

/* Returns the lowest address of a thread's stack. Neighbouring stacks begin on different cache lines: at distances of a
   power of two, the most used lines of all threads would compete for the same few places in the cache. The guard page
   below each stack also moves the next one. */
SIMT_OWN char *simt_stack_bottom(int thread)
{
    size_t number = (size_t)simt.rank * SIMT_MAX_THREADS + (size_t)thread;
    return simt.stacks + number * (SIMT_STACK_BYTES + SIMT_GUARD_BYTES) + SIMT_GUARD_BYTES;
}

enum : size_t { SIMT_ALL_STACKS = (size_t)SIMT_MAX_CLUSTER * SIMT_MAX_THREADS * (SIMT_STACK_BYTES + SIMT_GUARD_BYTES) };

SIMT_OWN size_t simt_stack_bytes(int thread) { return SIMT_STACK_BYTES - (size_t)(thread % 8) * 512; }

SIMT_OWN void simt_map_stacks(void)
{
    const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *memory = mmap(nullptr, SIMT_ALL_STACKS, PROT_READ | PROT_WRITE, kind, -1, 0);
    if (memory == MAP_FAILED) {
        perror("simt: stacks");
        exit(SIMT_EXIT_STATUS);
    }
    simt.stacks = (char *)memory;
}

/* Makes the guard pages of the running block's stacks inaccessible. */
SIMT_OWN void simt_guard_stacks(void)
{
    for (int thread = 0; thread < SIMT_MAX_THREADS; thread++)
        mprotect(simt_stack_bottom(thread) - SIMT_GUARD_BYTES, SIMT_GUARD_BYTES, PROT_NONE);
}

#ifdef SIMT_UCONTEXT

SIMT_OWN void simt_prepare(simt_context *context, char *stack, size_t bytes, void (*entry)(void))
{
    getcontext(&context->registers);
    context->registers.uc_stack.ss_sp = stack;
    context->registers.uc_stack.ss_size = bytes;
    context->registers.uc_link = nullptr;
    makecontext(&context->registers, entry, 0);
}

SIMT_OWN void simt_switch(simt_context *from, simt_context *to) { swapcontext(&from->registers, &to->registers); }

#else

/* Saves the six registers that a callee must preserve by the System V calling convention, and switches stacks. The two
   floating-point control words are not saved, because no kernel changes them; saving them took a twelfth of a run.
   noipa: the compiler must not conclude from the body that other registers survive. */
SIMT_STATE __attribute__((naked, noipa)) void simt_swap_stacks(void **, void *)
{
    __asm__ volatile("pushq %rbp\n\t"
                     "pushq %rbx\n\t"
                     "pushq %r12\n\t"
                     "pushq %r13\n\t"
                     "pushq %r14\n\t"
                     "pushq %r15\n\t"
                     "movq %rsp, (%rdi)\n\t"
                     "movq %rsi, %rsp\n\t"
                     "popq %r15\n\t"
                     "popq %r14\n\t"
                     "popq %r13\n\t"
                     "popq %r12\n\t"
                     "popq %rbx\n\t"
                     "popq %rbp\n\t"
                     "ret");
}

struct simt_saved {
    uint64_t registers[6];
    void (*return_to)(void);
    void *end_of_stack; /* entry's own return address: 0 ends a debugger's walk */
};

SIMT_OWN void simt_prepare(simt_context *context, char *stack, size_t bytes, void (*entry)(void))
{
    simt_saved *saved = (simt_saved *)(stack + bytes) - 1;
    *saved = simt_saved{};
    saved->return_to = entry;
    context->stack_pointer = saved;
}

SIMT_OWN void simt_switch(simt_context *from, simt_context *to)
{
    simt_swap_stacks(&from->stack_pointer, to->stack_pointer);
}

#endif

/* The address sanitizer must know which stack is in use. */
#ifdef __SANITIZE_ADDRESS__
SIMT_OWN void simt_announce_switch(void **fake_stack, const void *bottom, size_t bytes)
{
    __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
}
SIMT_OWN void simt_announce_arrival(void *fake_stack, const void **old_bottom, size_t *old_bytes)
{
    __sanitizer_finish_switch_fiber(fake_stack, old_bottom, old_bytes);
}
SIMT_OWN void simt_unpoison(const void *memory, size_t bytes) { __asan_unpoison_memory_region(memory, bytes); }
SIMT_OWN void simt_poison(const void *memory, size_t bytes) { __asan_poison_memory_region(memory, bytes); }
#else
SIMT_OWN void simt_announce_switch(void **, const void *, size_t) {}
SIMT_OWN void simt_announce_arrival(void *, const void **, size_t *) {}
SIMT_OWN void simt_unpoison(const void *, size_t) {}
SIMT_OWN void simt_poison(const void *, size_t) {}
#endif

/* Switches from the scheduler to a thread, until the thread waits or exits. */
SIMT_OWN void simt_resume(int thread)
{
    simt_thread &next = simt.threads[thread];
    simt.current = thread;
    threadIdx = next.index;
    simt_announce_switch(&simt.scheduler.fake_stack, simt_stack_bottom(thread), simt_stack_bytes(thread));
    simt_switch(&simt.scheduler, &next.context);
    simt_announce_arrival(simt.scheduler.fake_stack, nullptr, nullptr);
    simt.current = -1;
}

/* Switches from a thread to the scheduler. */
SIMT_OWN void simt_suspend(void)
{
    simt_context &mine = simt.threads[simt.current].context;
    simt_announce_switch(&mine.fake_stack, simt.host_stack, simt.host_stack_bytes);
    simt_switch(&mine, &simt.scheduler);
    simt_announce_arrival(mine.fake_stack, &simt.host_stack, &simt.host_stack_bytes);
}

SIMT_OWN void simt_thread_ends(void);

/* Where every thread begins. It never returns, because its stack ends here. So the address sanitizer must not mark its
   frame, nor one that is inlined into it: the marks would remain when a thread of the next block begins on this
   stack. */
SIMT_OWN_UNSEEN void simt_thread_main(void)
{
    simt_announce_arrival(nullptr, &simt.host_stack, &simt.host_stack_bytes);
    simt.body(simt.body_data);
    simt_this_warp().exited |= 1u << simt_lane_id();
    simt_this_block().live--;
    simt_thread_ends();
    simt_announce_switch(nullptr, simt.host_stack, simt.host_stack_bytes);
    simt_switch(&simt.threads[simt.current].context, &simt.scheduler);
}

#endif
