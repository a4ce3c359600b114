/* functions.h - device functions that need no other thread. */
#ifndef SIMT_FUNCTIONS_H
#define SIMT_FUNCTIONS_H

#include "watch.h"

SIMT_OWN int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_OWN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_OWN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
SIMT_OWN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
SIMT_OWN int __ffs(int x) { return __builtin_ffs(x); }
SIMT_OWN int __ffsll(long long x) { return __builtin_ffsll(x); }

template <class To, class From> SIMT_OWN To simt_same_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits need the same size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
SIMT_OWN unsigned __float_as_uint(float x) { return simt_same_bits<unsigned>(x); }
SIMT_OWN float __uint_as_float(unsigned x) { return simt_same_bits<float>(x); }
SIMT_OWN int __float_as_int(float x) { return simt_same_bits<int>(x); }
SIMT_OWN float __int_as_float(int x) { return simt_same_bits<float>(x); }
SIMT_OWN long long __double_as_longlong(double x) { return simt_same_bits<long long>(x); }
SIMT_OWN double __longlong_as_double(long long x) { return simt_same_bits<double>(x); }

SIMT_OWN float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
SIMT_OWN double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
SIMT_OWN float __frcp_rn(float x) { return 1.0f / x; }
SIMT_OWN double __drcp_rn(double x) { return 1.0 / x; }

/* With SIMT_PERTURBED a header takes this as the device's fast reciprocal. It is off by up to one unit in the last
   place, by an amount that depends only on the bits of x. It is exact for powers of two, and has the device's results
   at the ends of the range (docs/reciprocal.md). In host code it is 1/x. */
#ifdef SIMT_PERTURBED
#define SIMT_RECIPROCAL(x) simt_reciprocal(x)
#endif

/* Returns a number from -0.5 to 0.5 that depends only on the bits; 0 if the `fraction` low bits are 0, as in powers of
   two. */
SIMT_OWN double simt_noise(uint64_t bits, int fraction)
{
    if (bits << (64 - fraction) == 0)
        return 0;
    bits = (bits ^ bits >> 31) * 0x7fb5d329728ea185u;
    bits = (bits ^ bits >> 27) * 0x81dadef4bc2dd44du;
    return (double)(bits >> 11) / 9007199254740992.0 - 0.5;
}

/* Zero and subnormal numbers give infinity, numbers above 1/FLT_MIN give zero. */
SIMT_OWN float simt_reciprocal(float x)
{
    const float smallest = 0x1p-126f;
    float y = 1.0f / x;
    if (simt.current < 0)
        return y;
    if (fabsf(x) < smallest)
        return copysignf(INFINITY, x);
    if (fabsf(y) < smallest)
        return copysignf(0.0f, x);
    double unit = (double)nextafterf(fabsf(y), INFINITY) - (double)fabsf(y);
    return (float)(1.0 / (double)x + simt_noise(simt_same_bits<unsigned>(x), 23) * unit);
}

/* The results of Newton's method from the hardware's approximation. Zero, infinite and subnormal x give NaN. */
SIMT_OWN double simt_reciprocal(double x)
{
    const double smallest = 0x1p-1022;
    double y = 1.0 / x;
    if (simt.current < 0)
        return y;
    if (fabs(x) < smallest || isinf(x))
        return NAN;
    if (fabs(x) >= 0x1p1022)
        return copysign(0.0, x);
    long double unit = (long double)nextafter(fabs(y), INFINITY) - (long double)fabs(y);
    return (double)(1.0L / (long double)x + simt_noise(simt_same_bits<uint64_t>(x), 52) * unit);
}
#define SIMT_MIN_MAX(type)                                   \
    SIMT_OWN type min(type a, type b) { return b < a ? b : a; } \
    SIMT_OWN type max(type a, type b) { return a < b ? b : a; }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
SIMT_OWN float min(float a, float b) { return fminf(a, b); }
SIMT_OWN float max(float a, float b) { return fmaxf(a, b); }
SIMT_OWN double min(double a, double b) { return fmin(a, b); }
SIMT_OWN double max(double a, double b) { return fmax(a, b); }

/* Hints to the caches. The accesses are the program's own, so they are watched. */
template <class T> SIMT_INLINED T __ldg(const T *from) { return *from; }
template <class T> SIMT_INLINED T __ldcs(const T *from) { return *from; }
template <class T> SIMT_INLINED T __ldcg(const T *from) { return *from; }
template <class T> SIMT_INLINED void __stcs(T *to, T value) { *to = value; }
template <class T> SIMT_INLINED void __stcg(T *to, T value) { *to = value; }
template <class T> SIMT_INLINED void __stwt(T *to, T value) { *to = value; }

/* No thread is interrupted, so plain reads and writes are atomic. The template deduces its type from the word alone;
   the value converts to it, as with CUDA's overloads. */
template <class T> struct simt_word {
    typedef T type;
};
template <class T> using simt_value = typename simt_word<T>::type;

template <class T> SIMT_OWN T simt_replace(T *word, T value)
{
    T old = *word;
    *word = value;
    return old;
}

template <class T> SIMT_OWN T atomicAdd(T *word, simt_value<T> value)
{
    simt_watch_access(word, sizeof *word, SIMT_READ | SIMT_WRITE | SIMT_ATOMIC | SIMT_ALIGNED);
    if constexpr (std::is_same<T, int>::value) /* wraps */
        return simt_replace(word, (int)((unsigned)*word + (unsigned)value));
    else
        return simt_replace(word, *word + value);
}
template <class T> SIMT_OWN T atomicMax(T *word, simt_value<T> value)
{
    simt_watch_access(word, sizeof *word, SIMT_READ | SIMT_WRITE | SIMT_ATOMIC | SIMT_ALIGNED);
    return simt_replace(word, *word < value ? value : *word);
}
template <class T> SIMT_OWN T atomicMin(T *word, simt_value<T> value)
{
    simt_watch_access(word, sizeof *word, SIMT_READ | SIMT_WRITE | SIMT_ATOMIC | SIMT_ALIGNED);
    return simt_replace(word, value < *word ? value : *word);
}
template <class T> SIMT_OWN T atomicExch(T *word, simt_value<T> value)
{
    simt_watch_access(word, sizeof *word, SIMT_WRITE | SIMT_ATOMIC | SIMT_ALIGNED);
    return simt_replace(word, value);
}
template <class T> SIMT_OWN T atomicCAS(T *word, simt_value<T> expected, simt_value<T> value)
{
    simt_watch_access(word, sizeof *word, SIMT_READ | SIMT_WRITE | SIMT_ATOMIC | SIMT_ALIGNED);
    return simt_replace(word, *word == expected ? value : *word);
}

#endif
