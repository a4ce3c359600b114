/* settings.h - what a program may choose: the device's capability and size, and the order in which threads run. */
#ifndef SIMT_SETTINGS_H
#define SIMT_SETTINGS_H

#include "machine.h"

SIMT_OWN void simt_capability(int major, int minor)
{
    simt.major = major;
    simt.minor = minor;
}

/* Returns 10 * major + minor of the device. Kernels count as compiled for the same capability. */
SIMT_OWN int simt_version(void) { return 10 * simt.major + simt.minor; }

/* Sets how many bytes of shared memory a block may ask for: at most 227 KiB, the default. */
SIMT_OWN void simt_shared_memory(int bytes) { simt.shared_most = (size_t)bytes; }

/* Sets how many multiprocessors the device has; the default is 4. */
SIMT_OWN void simt_multiprocessors(int count) { simt.processors = count; }

SIMT_OWN void simt_permute(uint64_t seed) { simt.random = seed * 0x9e3779b97f4a7c15u; }

/* Returns a random number below n (xorshift64). */
SIMT_OWN unsigned simt_random_below(unsigned n)
{
    simt.random ^= simt.random << 13;
    simt.random ^= simt.random >> 7;
    simt.random ^= simt.random << 17;
    return (unsigned)((simt.random >> 32) * n >> 32);
}

/* Fills order with 0 to n-1, shuffled if simt_permute has set a seed. */
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
