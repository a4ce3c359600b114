/* settings.h - what a program may choose: the device's capability and size, the order in which its threads run. */
#ifndef SIMT_SETTINGS_H
#define SIMT_SETTINGS_H

#include "machine.h"

SIMT_OWN void simt_capability(int major, int minor)
{
    simt.major = major;
    simt.minor = minor;
}

/* 10 * major + minor, which is also what kernels are taken to be compiled for. */
SIMT_OWN int simt_version(void) { return 10 * simt.major + simt.minor; }

/* How many bytes of shared memory a block may ask for, at most 227 KiB, which it is unless told. */
SIMT_OWN void simt_shared_memory(int bytes) { simt.shared_most = (size_t)bytes; }

/* How many multiprocessors the device has; 4 unless told. */
SIMT_OWN void simt_multiprocessors(int count) { simt.processors = count; }

SIMT_OWN void simt_permute(uint64_t seed) { simt.random = seed * 0x9e3779b97f4a7c15u; }

/* A number below n (xorshift64). */
SIMT_OWN unsigned simt_random_below(unsigned n)
{
    simt.random ^= simt.random << 13;
    simt.random ^= simt.random >> 7;
    simt.random ^= simt.random << 17;
    return (unsigned)((simt.random >> 32) * n >> 32);
}

/* The first n of order: 0 to n-1, shuffled if so asked. */
SIMT_OWN void simt_order(unsigned char *order, int n)
{
    for (int i = 0; i < n; i++)
        order[i] = (unsigned char)i;
    for (int i = n - 1; simt.random && i > 0; i--) {
        unsigned other = simt_random_below((unsigned)i + 1);
        unsigned char number = order[i];
        order[i] = order[other];
        order[other] = number;
    }
}

#endif
