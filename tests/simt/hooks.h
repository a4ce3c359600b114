/* hooks.h - the functions that gcc calls under -fsanitize=thread, at each access of the program to memory. */
#ifndef SIMT_HOOKS_H
#define SIMT_HOOKS_H

#include "watch.h"

#if SIMT_WATCHED

#define SIMT_HOOK extern "C" inline SIMT_HIDDEN __attribute__((used, no_sanitize("thread")))

#define SIMT_ACCESS_HOOKS(bytes)                                                                                     \
    SIMT_HOOK void __tsan_read##bytes(void *address) { simt_watch_access(address, bytes, SIMT_READ | SIMT_ALIGNED); } \
    SIMT_HOOK void __tsan_write##bytes(void *address) { simt_watch_access(address, bytes, SIMT_WRITE | SIMT_ALIGNED); }
#define SIMT_UNALIGNED_HOOKS(bytes)                                                                                 \
    SIMT_HOOK void __tsan_unaligned_read##bytes(void *address) { simt_watch_access(address, bytes, SIMT_READ); }    \
    SIMT_HOOK void __tsan_unaligned_write##bytes(void *address) { simt_watch_access(address, bytes, SIMT_WRITE); }

SIMT_ACCESS_HOOKS(1)
SIMT_ACCESS_HOOKS(2)
SIMT_ACCESS_HOOKS(4)
SIMT_ACCESS_HOOKS(8)
SIMT_ACCESS_HOOKS(16)
SIMT_UNALIGNED_HOOKS(2)
SIMT_UNALIGNED_HOOKS(4)
SIMT_UNALIGNED_HOOKS(8)
SIMT_UNALIGNED_HOOKS(16)
SIMT_HOOK void __tsan_read_range(void *address, size_t bytes) { simt_watch_access(address, bytes, SIMT_READ); }
SIMT_HOOK void __tsan_write_range(void *address, size_t bytes) { simt_watch_access(address, bytes, SIMT_WRITE); }

SIMT_HOOK void __tsan_init(void) {}
SIMT_HOOK void __tsan_func_entry(void *) {}
SIMT_HOOK void __tsan_func_exit(void *) {}
SIMT_HOOK void __tsan_vptr_update(void *, void *) {}
SIMT_HOOK void __tsan_vptr_read(void *) {}
SIMT_HOOK void __tsan_atomic_thread_fence(int) {}
SIMT_HOOK void __tsan_atomic_signal_fence(int) {}

/* gcc replaces atomics of C++ by these calls, so they must do the work. Host code has such atomics (the guards of
   static variables, shared_ptr); device code has CUDA's. */
#define SIMT_ATOMIC_FETCH(bits, type, operation)                                                                    \
    SIMT_HOOK type __tsan_atomic##bits##_fetch_##operation(volatile void *word, type value, int)                    \
    {                                                                                                               \
        return __atomic_fetch_##operation((volatile type *)word, value, __ATOMIC_SEQ_CST);                          \
    }
#define SIMT_ATOMIC_COMPARE(bits, type, strength, is_weak)                                                          \
    SIMT_HOOK bool __tsan_atomic##bits##_compare_exchange_##strength(volatile void *word, void *expected,           \
                                                                     type desired, int, int)                        \
    {                                                                                                               \
        return __atomic_compare_exchange_n((volatile type *)word, (type *)expected, desired, is_weak,               \
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                     \
    }
#define SIMT_ATOMIC_HOOKS(bits, type)                                                                               \
    SIMT_HOOK type __tsan_atomic##bits##_load(const volatile void *word, int)                                       \
    {                                                                                                               \
        return __atomic_load_n((const volatile type *)word, __ATOMIC_SEQ_CST);                                      \
    }                                                                                                               \
    SIMT_HOOK void __tsan_atomic##bits##_store(volatile void *word, type value, int)                                \
    {                                                                                                               \
        __atomic_store_n((volatile type *)word, value, __ATOMIC_SEQ_CST);                                           \
    }                                                                                                               \
    SIMT_HOOK type __tsan_atomic##bits##_exchange(volatile void *word, type value, int)                             \
    {                                                                                                               \
        return __atomic_exchange_n((volatile type *)word, value, __ATOMIC_SEQ_CST);                                 \
    }                                                                                                               \
    SIMT_ATOMIC_FETCH(bits, type, add)                                                                              \
    SIMT_ATOMIC_FETCH(bits, type, sub)                                                                              \
    SIMT_ATOMIC_FETCH(bits, type, and)                                                                              \
    SIMT_ATOMIC_FETCH(bits, type, or)                                                                               \
    SIMT_ATOMIC_FETCH(bits, type, xor)                                                                              \
    SIMT_ATOMIC_FETCH(bits, type, nand)                                                                             \
    SIMT_ATOMIC_COMPARE(bits, type, strong, false)                                                                  \
    SIMT_ATOMIC_COMPARE(bits, type, weak, true)

SIMT_ATOMIC_HOOKS(8, unsigned char)
SIMT_ATOMIC_HOOKS(16, unsigned short)
SIMT_ATOMIC_HOOKS(32, unsigned int)
SIMT_ATOMIC_HOOKS(64, unsigned long)

#endif

#endif
