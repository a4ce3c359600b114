/* standstill.h - finds out why no thread can proceed. */
#ifndef SIMT_STANDSTILL_H
#define SIMT_STANDSTILL_H

#include "clusters.h"

SIMT_OWN bool simt_is_at_barrier(const simt_warp &warp, int lane)
{
    return (warp.waiting >> lane & 1) && warp.operation[lane] >= SIMT_BARRIER;
}

/* Explains why a lane waits: for a box that is never full, for a lane that has exited since, or for one that waits for
   it at another operation or with another mask. Returns whether it has found the reason. */
SIMT_OWN bool simt_explain_lane(int thread)
{
    const simt_warp &warp = simt.warps[thread / SIMT_LANES];
    int lane = thread % SIMT_LANES;
    simt_operation operation = warp.operation[lane];
    const char *name = simt_operation_name(operation);
    unsigned mask = warp.mask[lane];
    if (operation == SIMT_BOX) {
        for (const simt_box &box : simt_this_block().boxes)
            if (box.is_expecting || box.came) {
                simt_fault(thread, "a box is never full: %d bytes came, %d are expected", box.came,
                           box.is_expecting ? box.expected : 0);
                return true;
            }
        simt_fault(thread, "a box is never full: nothing came, and nothing is expected");
        return true;
    }
    if (mask & warp.exited) {
        simt_fault(thread, "%s with mask 0x%08x waits for lane %d, which has exited", name, mask,
                   simt_first_lane(mask & warp.exited));
        return true;
    }
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
        int other = simt_first_lane(lanes);
        if (!(warp.mask[other] >> lane & 1))
            continue;
        if (warp.operation[other] != operation) {
            simt_fault(thread, "lanes meet with different operations: lane %d at %s, lane %d at %s", lane, name, other,
                       simt_operation_name(warp.operation[other]));
            return true;
        }
        if (warp.mask[other] != mask) {
            simt_fault(thread, "lanes meet at %s with different masks: lane %d with 0x%08x, lane %d with 0x%08x", name,
                       lane, mask, other, warp.mask[other]);
            return true;
        }
    }
    return false;
}

SIMT_OWN int simt_barrier_of(int thread) { return simt.warps[thread / SIMT_LANES].barrier[thread % SIMT_LANES]; }

/* Explains why a barrier stays closed: `waiting` waits there, and `missing` does not, or waits there too although the
   barrier is for more threads than that. */
SIMT_OWN void simt_explain_barrier(int waiting, int missing)
{
    const simt_warp &warp = simt.warps[missing / SIMT_LANES];
    int lane = missing % SIMT_LANES;
    uint3 index = simt.threads[missing].index;
    bool has_exited = warp.exited >> lane & 1;
    const simt_meeting &barrier = simt.barriers[simt_barrier_of(waiting)];
    int expected = barrier.count < simt.thread_count ? barrier.count : simt.thread_count;
    simt_fault(waiting, "barrier not reached by all: %d of %d threads wait at %s, thread (%u,%u,%u) %s%s",
               barrier.arrived, expected, simt_operation_name(barrier.operation), index.x, index.y, index.z,
               has_exited ? "has exited" : "waits at ",
               has_exited ? "" : simt_operation_name(warp.operation[lane]));
}

/* Explains a deadlock: each lane waits for a lane that waits for yet another one. */
SIMT_OWN void simt_explain_deadlock(int thread)
{
    const simt_warp &warp = simt.warps[thread / SIMT_LANES];
    int lane = thread % SIMT_LANES, other = lane;
    for (unsigned lanes = warp.mask[lane]; lanes; lanes &= lanes - 1)
        if (warp.mask[simt_first_lane(lanes)] != warp.mask[lane])
            other = simt_first_lane(lanes);
    simt_fault(thread, "deadlock: lane %d waits at %s with mask 0x%08x, lane %d waits at %s with mask 0x%08x", lane,
               simt_operation_name(warp.operation[lane]), warp.mask[lane], other,
               simt_operation_name(warp.operation[other]), warp.mask[other]);
}

/* Reports a thread that waits at the cluster's barrier, which opens only for all threads. Returns whether it does. */
SIMT_OWN bool simt_explain_cluster_sync(int thread)
{
    if (simt.warps[thread / SIMT_LANES].operation[thread % SIMT_LANES] != SIMT_CLUSTER_SYNC)
        return false;
    simt_fault(thread, "barrier of the cluster not reached by all");
    return true;
}

SIMT_OWN void simt_explain_block(void)
{
    int at_barrier = -1, at_another = -1, elsewhere = -1, in_warp = -1;
    for (int thread = 0; thread < simt.thread_count; thread++) {
        const simt_warp &warp = simt.warps[thread / SIMT_LANES];
        bool waits = warp.waiting >> thread % SIMT_LANES & 1;
        bool is_at_barrier = simt_is_at_barrier(warp, thread % SIMT_LANES);
        if (waits && !is_at_barrier && simt_explain_lane(thread))
            return;
        if (is_at_barrier && at_barrier < 0)
            at_barrier = thread;
        else if (is_at_barrier && simt_barrier_of(thread) != simt_barrier_of(at_barrier))
            at_another = at_another < 0 ? thread : at_another;
        else if (!is_at_barrier)
            elsewhere = elsewhere < 0 ? thread : elsewhere;
        if (waits && !is_at_barrier)
            in_warp = in_warp < 0 ? thread : in_warp;
    }
    if (at_barrier >= 0)
        simt_explain_barrier(at_barrier, elsewhere >= 0 ? elsewhere : at_another >= 0 ? at_another : at_barrier);
    else if (simt_explain_cluster_sync(in_warp))
        return;
    else
        simt_explain_deadlock(in_warp);
}

/* Explains a standstill by a block that waits at something other than the cluster's barrier, if there is one. */
SIMT_OWN void simt_explain_standstill(void)
{
    int stuck = -1;
    for (int r = 0; r < simt.cluster_size; r++)
        for (int thread = 0; thread < simt.thread_count; thread++) {
            const simt_warp &warp = simt.blocks[r]->warps[thread / SIMT_LANES];
            int lane = thread % SIMT_LANES;
            if ((warp.waiting >> lane & 1) && warp.operation[lane] != SIMT_CLUSTER_SYNC && stuck < 0)
                stuck = r;
        }
    simt_enter_block(stuck < 0 ? 0 : stuck);
    simt_explain_block();
}

#endif
