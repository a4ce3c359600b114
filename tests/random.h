/* random.h - the random numbers of the tests: splitmix64, the same everywhere.
   MIT licence, see LICENSE. */
#ifndef RANDOM_H
#define RANDOM_H

#ifdef __GNUC__
#define CASE_FUNCTION static __attribute__((unused))
#else
#define CASE_FUNCTION static
#endif

/* Marks a function that shares nothing with the code under test and takes much of the time: neither the sanitizers nor
   the emulator need to watch it. */
#define CASE_REFERENCE __attribute__((no_sanitize("address", "undefined", "thread"))) CASE_FUNCTION

typedef struct {
    unsigned long long state;
} case_random;

CASE_FUNCTION unsigned long long case_bits(case_random *random)
{
    unsigned long long z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

CASE_FUNCTION double case_between(case_random *random, double low, double high)
{
    return low + (high - low) * ((double)(case_bits(random) >> 11) / 9007199254740992.0);
}

CASE_FUNCTION int case_below(case_random *random, int count)
{
    return (int)(case_bits(random) % (unsigned long long)count);
}

#endif
