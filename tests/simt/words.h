/* words.h - CUDA's keywords for g++, and the emulator's own. */
#ifndef SIMT_WORDS_H
#define SIMT_WORDS_H

/* All headers come before the macros below, which would otherwise rewrite words in them. */
#include <type_traits>
#include <vector>

#include <elf.h>
#include <link.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if !defined __x86_64__ && !defined SIMT_UCONTEXT
#define SIMT_UCONTEXT
#endif
#ifdef SIMT_UCONTEXT
#include <ucontext.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define SIMT_EMULATOR 1
#ifdef __SANITIZE_THREAD__
#define SIMT_WATCHED 1
#else
#define SIMT_WATCHED 0
#endif

/* Each program and each library has an emulator of its own, whose parts are hidden from outside. */
#define SIMT_HIDDEN __attribute__((visibility("hidden")))
#define SIMT_STATE inline SIMT_HIDDEN
/* The emulator's own accesses are not the program's, so the watch must not see them. Some (UNSEEN) must also stay
   hidden from the address sanitizer. */
#define SIMT_OWN inline SIMT_HIDDEN __attribute__((no_sanitize("thread")))
#define SIMT_OWN_UNSEEN inline SIMT_HIDDEN __attribute__((no_sanitize("address", "thread")))
/* Functions that return a structure are always inlined, because gcc does not announce the store of a call's result. */
#define SIMT_INLINED inline __attribute__((always_inline))
#define SIMT_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- CUDA's words ---------------------------------------------------------------------------------------------- */

#define __global__ __attribute__((unused))
#define __device__ __attribute__((unused))
#define __constant__ __attribute__((unused))
#define __host__
#define __forceinline__ SIMT_INLINED
#define __noinline__ /* empty, because libstdc++ writes __attribute__((__noinline__)) */
#if defined __x86_64__ && !defined __clang__
/* Puts one-byte instructions that do nothing before the function, one for each thread that it may have, and notes their
   address in a section, which the program can read. No other such attribute of gcc takes a template's arguments. */
#define SIMT_BOUND(threads, ...) __attribute__((patchable_function_entry((threads) + 0, (threads) + 0)))
#define __launch_bounds__(...) SIMT_BOUND(__VA_ARGS__, 0)
#else
#define __launch_bounds__(...)
#endif
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__

/* Blocks run one after another, so a static array can serve all of them. "noinit" puts it into the section .noinit,
   which thus holds all of shared memory. (The attribute "section" would be lost in templates, and would stop the
   address sanitizer from guarding the array's ends.) Without "used" the compiler might conclude that an array to which
   it sees no writes is still zero. */
#define __shared__ static __attribute__((noinit, used))

#endif
