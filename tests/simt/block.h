/* block.h - what the warps of a block do together: barriers. */
#ifndef SIMT_BLOCK_H
#define SIMT_BLOCK_H

#include "warp.h"

SIMT_OWN int simt_warp_count(void) { return (simt.thread_count + SIMT_LANES - 1) / SIMT_LANES; }

SIMT_OWN uint64_t simt_barrier_result(simt_operation operation)
{
    uint64_t votes = 0;
    for (int thread = 0; thread < simt.thread_count; thread++)
        votes += simt.warps[thread / SIMT_LANES].value[thread % SIMT_LANES];
    switch (operation) {
    case SIMT_BARRIER_AND:
        return votes == (uint64_t)simt.thread_count;
    case SIMT_BARRIER_OR:
        return votes != 0;
    default:
        return votes;
    }
}

/* Returns the lanes of a warp that wait at this barrier. */
SIMT_OWN unsigned simt_lanes_at(const simt_warp &warp, int id)
{
    unsigned at = 0;
    for (unsigned lanes = warp.waiting; lanes; lanes &= lanes - 1) {
        int lane = simt_first_lane(lanes);
        at |= (unsigned)(warp.operation[lane] >= SIMT_BARRIER && warp.barrier[lane] == id) << lane;
    }
    return at;
}

/* Returns the warps that have arrived at this barrier, that is, whose lanes all wait there. */
SIMT_OWN uint32_t simt_warps_at(int id)
{
    uint32_t at = 0;
    for (int w = 0; w < simt_warp_count(); w++)
        at |= (uint32_t)(simt_lanes_at(simt.warps[w], id) == simt.warps[w].lanes) << w;
    return at;
}

SIMT_OWN void simt_open_barrier(int id, uint32_t members)
{
    simt_meeting &barrier = simt.barriers[id];
    uint64_t result = barrier.operation == SIMT_BARRIER_NAMED ? 0 : simt_barrier_result(barrier.operation);
    for (int w = 0; w < simt_warp_count(); w++) {
        simt_warp &warp = simt.warps[w];
        if (!(members >> w & 1))
            continue;
        for (uint64_t &taken : warp.result)
            taken = result;
        warp.waiting = 0;
        warp.ready = warp.lanes;
        barrier.arrived -= __builtin_popcount(warp.lanes);
    }
    barrier.members = members;
    simt_watch_barrier();
}

/* Waits at a barrier. The first thread to arrive decides how many threads the barrier is for, and its kind of vote. */
SIMT_OWN int simt_meet_block(simt_operation operation, int id, int count, bool vote)
{
    simt_meeting &barrier = simt.barriers[id];
    simt_warp &warp = simt_this_warp();
    unsigned lane = simt_lane_id();
    uint32_t mine = 1u << simt.current / SIMT_LANES;
    if (barrier.arrived == 0)
        barrier.operation = operation, barrier.count = count;
    if (barrier.operation != operation)
        simt_fault(simt.current, "threads meet with different operations: %s and %s",
                   simt_operation_name(barrier.operation), simt_operation_name(operation));
    if (barrier.count != count)
        simt_fault(simt.current, "threads meet at barrier %d with different counts: %d and %d", id, barrier.count,
                   count);
    if (barrier.members && !(barrier.members & mine))
        simt_fault(simt.current, "barrier %d of %d threads is met by others than before", id, count);
    warp.operation[lane] = operation;
    warp.mask[lane] = 0;
    warp.barrier[lane] = (unsigned char)id;
    warp.value[lane] = vote;
    warp.waiting |= 1u << lane;
    barrier.arrived++;
    if (simt_lanes_at(warp, id) == warp.lanes) {
        uint32_t members = simt_warps_at(id);
        if (__builtin_popcount(members) * SIMT_LANES == count)
            simt_open_barrier(id, members);
    }
    simt_suspend();
    return (int)warp.result[lane];
}

SIMT_OWN int simt_meet_all(simt_operation operation, bool vote)
{
    simt_require_kernel(operation);
    return simt_meet_block(operation, 0, simt_warp_count() * SIMT_LANES, vote);
}

SIMT_OWN void __syncthreads(void) { simt_meet_all(SIMT_BARRIER, false); }
SIMT_OWN int __syncthreads_and(int predicate) { return simt_meet_all(SIMT_BARRIER_AND, predicate != 0); }
SIMT_OWN int __syncthreads_or(int predicate) { return simt_meet_all(SIMT_BARRIER_OR, predicate != 0); }
SIMT_OWN int __syncthreads_count(int predicate) { return simt_meet_all(SIMT_BARRIER_COUNT, predicate != 0); }

/* barrier.sync id, count: whole warps meet, `count` threads together, wherever in the code each of them is. */
SIMT_OWN void simt_barrier(int id, int count)
{
    simt_require_kernel(SIMT_BARRIER_NAMED);
    if (id < 0 || id >= SIMT_BARRIERS)
        simt_fault(simt.current, "barrier %d, of %d", id, (int)SIMT_BARRIERS);
    if (count < SIMT_LANES || count % SIMT_LANES || count > simt_warp_count() * SIMT_LANES)
        simt_fault(simt.current, "barrier %d of %d threads, which are no warps of a block of %d", id, count,
                   simt.thread_count);
    simt_meet_block(id == 0 && count == simt_warp_count() * SIMT_LANES ? SIMT_BARRIER : SIMT_BARRIER_NAMED, id, count,
                    false);
}

/* Threads run one at a time, so memory is always up to date, and a fence has nothing to do. */
SIMT_OWN void __threadfence(void) {}
SIMT_OWN void __threadfence_block(void) {}

#endif
