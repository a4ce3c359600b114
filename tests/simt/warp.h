/* warp.h - what the lanes of a warp do together: shuffles, votes, __syncwarp. */
#ifndef SIMT_WARP_H
#define SIMT_WARP_H

#include "watch.h"

/* Checks that a mask names its caller, and only lanes that can still arrive. */
SIMT_OWN void simt_check_mask(simt_operation operation, unsigned mask)
{
    const simt_warp &warp = simt_this_warp();
    const char *name = simt_operation_name(operation);
    if (!(mask >> simt_lane_id() & 1))
        simt_fault(simt.current, "%s by lane %u, which is not in its own mask 0x%08x", name, simt_lane_id(), mask);
    if (mask & ~warp.lanes)
        simt_fault(simt.current, "%s with mask 0x%08x, which names lane %d beyond the block", name, mask,
                   simt_first_lane(mask & ~warp.lanes));
    if (mask & warp.exited)
        simt_fault(simt.current, "%s with mask 0x%08x, which names lane %d, which has exited", name, mask,
                   simt_first_lane(mask & warp.exited));
}

/* Returns whether all lanes of the mask wait at this operation with this mask. */
SIMT_OWN bool simt_all_agree(const simt_warp &warp, simt_operation operation, unsigned mask)
{
    if (mask & ~warp.waiting)
        return false;
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
        int lane = simt_first_lane(lanes);
        if (warp.operation[lane] != operation || warp.mask[lane] != mask)
            return false;
    }
    return true;
}

SIMT_OWN unsigned simt_lanes_that_vote(const simt_warp &warp, unsigned mask)
{
    unsigned votes = 0;
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
        int lane = simt_first_lane(lanes);
        votes |= (unsigned)(warp.value[lane] != 0) << lane;
    }
    return votes;
}

/* Called when all have arrived: computes what each lane takes away, and lets all of them go. */
SIMT_OWN void simt_exchange(simt_warp &warp, simt_operation operation, unsigned mask)
{
    if (operation <= SIMT_SHUFFLE_XOR_8) {
        for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
            int lane = simt_first_lane(lanes);
            warp.result[lane] = warp.value[warp.source[lane]];
        }
    } else if (operation == SIMT_SYNCWARP) {
        simt_watch_syncwarp(simt.current / SIMT_LANES, mask);
    } else {
        unsigned votes = simt_lanes_that_vote(warp, mask);
        uint64_t result = operation == SIMT_BALLOT ? votes : operation == SIMT_ANY ? votes != 0 : votes == mask;
        for (unsigned lanes = mask; lanes; lanes &= lanes - 1)
            warp.result[simt_first_lane(lanes)] = result;
    }
    warp.waiting &= ~mask;
    warp.ready |= mask;
}

/* Ends the program if host code has called a device function. */
SIMT_OWN void simt_require_kernel(simt_operation operation)
{
    if (simt.current >= 0)
        return;
    fprintf(stderr, "simt: %s outside a kernel\n",
            operation == SIMT_NOTHING ? "a device function" : simt_operation_name(operation));
    exit(SIMT_EXIT_STATUS);
}

SIMT_OWN uint64_t simt_meet(simt_operation operation, unsigned mask, uint64_t value, int source)
{
    simt_warp &warp = simt_this_warp();
    unsigned lane = simt_lane_id();
    warp.operation[lane] = operation;
    warp.mask[lane] = mask;
    warp.value[lane] = value;
    warp.source[lane] = source;
    warp.waiting |= 1u << lane;
    if (simt_all_agree(warp, operation, mask))
        simt_exchange(warp, operation, mask);
    simt_suspend();
    return warp.result[lane];
}

SIMT_OWN uint64_t simt_vote(simt_operation operation, unsigned mask, uint64_t value)
{
    simt_require_kernel(operation);
    simt_check_mask(operation, mask);
    return simt_meet(operation, mask, value, 0);
}

/* Returns the lane that a shuffle reads. A group of `width` lanes begins at `first`; a lane that would reach beyond the
   group reads itself. As in the hardware, only the low five bits of the argument count. */
SIMT_OWN int simt_shuffle_source(int kind, int lane, int argument, int width)
{
    int first = lane & -width, last = first + width - 1;
    argument &= SIMT_LANES - 1;
    switch (kind) {
    case SIMT_SHUFFLE_UP:
        return lane - argument >= first ? lane - argument : lane;
    case SIMT_SHUFFLE_DOWN:
        return lane + argument <= last ? lane + argument : lane;
    case SIMT_SHUFFLE_XOR:
        return (lane ^ argument) <= last ? lane ^ argument : lane;
    default:
        return first + (argument & (width - 1));
    }
}

SIMT_OWN uint64_t simt_shuffle(int kind, bool is_8_bytes, unsigned mask, uint64_t value, int argument, int width)
{
    simt_operation operation = (simt_operation)(is_8_bytes ? kind + SIMT_SHUFFLE_8 - SIMT_SHUFFLE : kind);
    simt_require_kernel(operation);
    if (width < 1 || width > SIMT_LANES || (width & (width - 1)))
        simt_fault(simt.current, "shuffle of width %d, which is not a power of two from 1 to 32", width);
    simt_check_mask(operation, mask);
    int source = simt_shuffle_source(kind, (int)simt_lane_id(), argument, width);
    const simt_warp &warp = simt_this_warp();
    if (!(warp.lanes >> source & 1))
        simt_fault(simt.current, "shuffle reads lane %d, which is beyond the block", source);
    if (!(mask >> source & 1))
        simt_fault(simt.current, "shuffle reads lane %d, which is outside mask 0x%08x%s", source, mask,
                   warp.exited >> source & 1 ? " and has exited" : "");
    return simt_meet(operation, mask, value, source);
}

#define SIMT_SHUFFLES_OF(type)                                                                                  \
    SIMT_SHUFFLE_OF(type, __shfl_sync, SIMT_SHUFFLE, int)                                                       \
    SIMT_SHUFFLE_OF(type, __shfl_up_sync, SIMT_SHUFFLE_UP, unsigned)                                            \
    SIMT_SHUFFLE_OF(type, __shfl_down_sync, SIMT_SHUFFLE_DOWN, unsigned)                                        \
    SIMT_SHUFFLE_OF(type, __shfl_xor_sync, SIMT_SHUFFLE_XOR, int)
#define SIMT_SHUFFLE_OF(type, name, kind, argument_type)                                                        \
    SIMT_OWN type name(unsigned mask, type value, argument_type argument, int width = SIMT_LANES)               \
    {                                                                                                           \
        uint64_t bits = 0;                                                                                      \
        memcpy(&bits, &value, sizeof value);                                                                    \
        bits = simt_shuffle(kind, sizeof value == 8, mask, bits, (int)argument, width);                         \
        memcpy(&value, &bits, sizeof value);                                                                    \
        return value;                                                                                           \
    }
SIMT_SHUFFLES_OF(int)
SIMT_SHUFFLES_OF(unsigned)
SIMT_SHUFFLES_OF(long)
SIMT_SHUFFLES_OF(unsigned long)
SIMT_SHUFFLES_OF(long long)
SIMT_SHUFFLES_OF(unsigned long long)
SIMT_SHUFFLES_OF(float)
SIMT_SHUFFLES_OF(double)

SIMT_OWN int __any_sync(unsigned mask, int predicate) { return (int)simt_vote(SIMT_ANY, mask, predicate != 0); }
SIMT_OWN int __all_sync(unsigned mask, int predicate) { return (int)simt_vote(SIMT_ALL, mask, predicate != 0); }
SIMT_OWN unsigned __ballot_sync(unsigned mask, int predicate)
{
    return (unsigned)simt_vote(SIMT_BALLOT, mask, predicate != 0);
}
SIMT_OWN void __syncwarp(unsigned mask = 0xffffffffu) { simt_vote(SIMT_SYNCWARP, mask, 0); }

/* Lets the block's other warps run. A thread that waits until one of them writes sleeps between its looks. */
SIMT_OWN void __nanosleep(unsigned)
{
    simt_require_kernel(SIMT_NOTHING);
    simt_this_warp().ready |= 1u << simt_lane_id();
    simt.slept = true;
    simt_suspend();
}

#endif
