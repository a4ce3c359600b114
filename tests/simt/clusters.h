/* clusters.h - clusters of blocks, and what they send to each other. */
#ifndef SIMT_CLUSTERS_H
#define SIMT_CLUSTERS_H

#include "copies.h"

/* Copies bytes by a loop over volatile words: the address sanitizer must not see what lies between the arrays. */
SIMT_OWN_UNSEEN void simt_copy_bytes(unsigned char *to, const unsigned char *from, size_t bytes)
{
    size_t i = 0;
    for (; i < bytes && (uintptr_t)(to + i) % 8; i++)
        ((volatile unsigned char *)to)[i] = from[i];
    for (; i + 8 <= bytes; i += 8) {
        uint64_t word;
        __builtin_memcpy(&word, from + i, 8);
        *(volatile uint64_t *)(to + i) = word;
    }
    for (; i < bytes; i++)
        ((volatile unsigned char *)to)[i] = from[i];
}

SIMT_OWN void simt_swap_image(unsigned char *image, bool leaves)
{
    size_t dynamic = (size_t)(simt_dynamic_shared - simt.shared);
    const size_t from[2] = {0, dynamic + SIMT_MAX_SHARED}, end[2] = {dynamic + simt.shared_bytes, simt.shared_range};
    for (int i = 0; i < 2; i++) {
        if (leaves)
            simt_copy_bytes(image + from[i], simt.shared + from[i], end[i] - from[i]);
        else
            simt_copy_bytes(simt.shared + from[i], image + from[i], end[i] - from[i]);
    }
}

/* Makes the block of this rank the running one. */
SIMT_OWN void simt_enter_block(int rank)
{
    if (rank == simt.rank && simt.threads)
        return;
    if (simt.threads && simt.cluster_size > 1) {
        simt_swap_image(simt_this_block().image, true);
        simt_watch_leave(simt_this_block().watch);
    }
    simt.rank = rank;
    if (!simt.blocks[rank]) {
        simt.blocks[rank] = new simt_block();
        simt.blocks[rank]->image = (unsigned char *)malloc(simt.shared_range);
        simt.blocks[rank]->watch = simt_watch_new_block();
        simt_guard_stacks();
    }
    simt_block &block = simt_this_block();
    if (simt.cluster_size > 1)
        simt_swap_image(block.image, false);
    simt.threads = block.threads;
    simt.warps = block.warps;
    simt.barriers = block.barriers;
    blockIdx = block.index;
    simt_watch_enter(block.watch);
}

SIMT_OWN int simt_cluster_rank(void)
{
    simt_require_kernel(SIMT_NOTHING);
    return simt.rank;
}
SIMT_OWN int simt_cluster_size(void)
{
    simt_require_kernel(SIMT_NOTHING);
    return simt.cluster_size;
}

/* Returns the same place in the shared memory of another block, which does not run while this one does. */
SIMT_OWN void *simt_cluster_map(void *place, int rank)
{
    simt_require_kernel(SIMT_NOTHING);
    if (rank < 0 || rank >= simt.cluster_size)
        simt_fault(simt.current, "shared memory of block %d of a cluster of %d", rank, simt.cluster_size);
    if (!simt_is_shared(place))
        simt_fault(simt.current, "what is mapped to another block is not shared memory");
    if (rank == simt.rank)
        return place;
    if (simt.threads[simt.current].cluster_syncs == 0)
        simt_fault(simt.current, "shared memory of block %d of the cluster before a barrier of the cluster", rank);
    if (simt.blocks[rank]->live == 0)
        simt_fault(simt.current, "shared memory of block %d of the cluster, which has ended", rank);
    return simt.blocks[rank]->image + ((uintptr_t)place - (uintptr_t)simt.shared);
}

SIMT_OWN void simt_release(simt_warp &warp, unsigned lanes)
{
    warp.waiting &= ~lanes;
    warp.ready |= lanes;
}

/* Opens the cluster's barrier if all threads of the cluster that have not exited wait there. */
SIMT_OWN void simt_open_cluster_barrier(void)
{
    int live = 0, rank = simt.rank;
    for (int r = 0; r < simt.cluster_size; r++)
        live += simt.blocks[r]->live;
    if (live == 0 || simt.cluster_syncing < live)
        return;
    simt.cluster_syncing = 0;
    for (int r = 0; r < simt.cluster_size; r++) {
        for (int w = 0; w < (simt.thread_count + SIMT_LANES - 1) / SIMT_LANES; w++) {
            simt_warp &warp = simt.blocks[r]->warps[w];
            for (unsigned lanes = warp.waiting; lanes; lanes &= lanes - 1) {
                int lane = simt_first_lane(lanes);
                simt.blocks[r]->threads[w * SIMT_LANES + lane].cluster_syncs++;
                simt_release(warp, 1u << lane);
            }
        }
        simt_watch_leave(simt.blocks[simt.rank]->watch);
        simt.rank = r;
        simt_watch_enter(simt.blocks[r]->watch);
        simt_watch_barrier();
    }
    simt_watch_leave(simt.blocks[simt.rank]->watch);
    simt.rank = rank;
    simt_watch_enter(simt.blocks[rank]->watch);
}

/* Makes the running thread wait at an operation without a mask. */
SIMT_OWN void simt_wait_at(simt_operation operation)
{
    simt_warp &warp = simt_this_warp();
    unsigned lane = simt_lane_id();
    warp.operation[lane] = operation;
    warp.mask[lane] = 0;
    warp.waiting |= 1u << lane;
}

SIMT_OWN void simt_cluster_sync(void)
{
    simt_require_kernel(SIMT_CLUSTER_SYNC);
    simt_wait_at(SIMT_CLUSTER_SYNC);
    simt.cluster_syncing++;
    simt_open_cluster_barrier();
    simt_suspend();
}

/* Returns the block's box at this place of shared memory, or null. */
SIMT_OWN simt_box *simt_box_at(int rank, const void *place)
{
    for (simt_box &box : simt.blocks[rank]->boxes)
        if (box.offset == (uintptr_t)place - (uintptr_t)simt.shared)
            return &box;
    return nullptr;
}

SIMT_OWN void simt_cluster_open(unsigned long long *place)
{
    simt_require_kernel(SIMT_NOTHING);
    if (!simt_is_shared(place))
        simt_fault(simt.current, "a box that is not in shared memory");
    if (simt_box_at(simt.rank, place))
        simt_fault(simt.current, "a box that has been opened before");
    simt_watch_access(place, 8, SIMT_WRITE);
    simt_box box = {};
    box.offset = (uintptr_t)place - (uintptr_t)simt.shared;
    box.opened = simt.threads[simt.current].cluster_syncs;
    simt_this_block().boxes.push_back(box);
}

/* If the box is full, delivers its messages and wakes all threads that wait for a box; each looks at its own again. */
SIMT_OWN void simt_fill_box(int rank, simt_box &box)
{
    if (!box.is_expecting || box.came < box.expected)
        return;
    if (box.came > box.expected)
        simt_fault(simt.current, "a box of block %d in its cluster gets %d bytes and expects %d", rank, box.came,
                   box.expected);
    simt_block &block = *simt.blocks[rank];
    box.full++;
    box.is_expecting = false;
    box.came = 0;
    for (const simt_message &message : box.messages) {
        simt_copy_bytes((rank == simt.rank ? simt.shared : block.image) + message.to, message.bytes, 16);
        simt_watch_message(block.watch, message.to, false, (size_t)(&box - block.boxes.data()), box.full);
    }
    box.messages.clear();
    for (int w = 0; w < simt_warp_count(); w++)
        for (unsigned lanes = block.warps[w].waiting; lanes; lanes &= lanes - 1)
            if (block.warps[w].operation[simt_first_lane(lanes)] == SIMT_BOX)
                simt_release(block.warps[w], lanes & -lanes);
}

SIMT_OWN void simt_cluster_expect(unsigned long long *place, int bytes)
{
    simt_require_kernel(SIMT_NOTHING);
    simt_box *box = simt_box_at(simt.rank, place);
    if (!box)
        simt_fault(simt.current, "a box that was not opened expects something");
    if (box->is_expecting)
        simt_fault(simt.current, "a box expects the next bytes before it is full");
    if (bytes < 16 || bytes >= 1 << 20 || bytes % 16)
        simt_fault(simt.current, "a box expects %d bytes", bytes);
    box->is_expecting = true;
    box->expected = bytes;
    simt_fill_box(simt.rank, *box);
}

SIMT_OWN void simt_cluster_send(void *to, int rank, unsigned long long *place, const void *bytes)
{
    simt_require_kernel(SIMT_NOTHING);
    if (rank < 0 || rank >= simt.cluster_size)
        simt_fault(simt.current, "something sent to block %d of a cluster of %d", rank, simt.cluster_size);
    simt_block &block = *simt.blocks[rank];
    simt_box *box = simt_box_at(rank, place);
    if (!simt_is_shared(to) || (uintptr_t)to % 16)
        simt_fault(simt.current, "something sent to what is not 16 bytes of shared memory, aligned to as many");
    if (block.live == 0)
        simt_fault(simt.current, "something sent to block %d of the cluster, which has ended", rank);
    if (!box)
        simt_fault(simt.current, "something sent to block %d of the cluster for a box that is not open", rank);
    if (simt.threads[simt.current].cluster_syncs <= box->opened)
        simt_fault(simt.current, "something sent to block %d of the cluster with no barrier since its box was opened",
                   rank);
    simt_message message;
    message.to = (uintptr_t)to - (uintptr_t)simt.shared;
    memcpy(message.bytes, bytes, 16);
    unsigned char poison[16];
    memset(poison, SIMT_POISON, 16);
    simt_copy_bytes((rank == simt.rank ? simt.shared : block.image) + message.to, poison, 16);
    simt_watch_message(block.watch, message.to, true, 0, 0);
    box->messages.push_back(message);
    box->came += 16;
    simt_fill_box(rank, *box);
}

/* Waits as try_wait.parity does: a box that was never full counts as full for an even time. */
SIMT_OWN void simt_cluster_await(unsigned long long *place, int odd)
{
    simt_require_kernel(SIMT_BOX);
    simt_box *box = simt_box_at(simt.rank, place);
    if (!box)
        simt_fault(simt.current, "waiting for a box that was not opened");
    if (odd != 0 && odd != 1)
        simt_fault(simt.current, "waiting for a box to be full an even or odd time, which %d is neither", odd);
    while ((int)(box->full & 1) == odd) {
        simt_wait_at(SIMT_BOX);
        simt_suspend();
        box = simt_box_at(simt.rank, place);
    }
    size_t number = (size_t)(box - simt_this_block().boxes.data());
    std::vector<uint32_t> &awaited = simt.threads[simt.current].awaited;
    if (awaited.size() <= number)
        awaited.resize(number + 1);
    awaited[number] = box->full;
}

/* Called when a thread exits. Only this thread may have kept the cluster's barrier closed. If its block has ended, no
   message may be on its way to it. */
SIMT_OWN void simt_thread_ends(void)
{
    if (simt_this_block().live == 0)
        for (simt_box &box : simt_this_block().boxes)
            if (!box.messages.empty())
                simt_fault(simt.current, "block %d of the cluster ends with %d bytes on their way to it", simt.rank,
                           box.came);
    simt_open_cluster_barrier();
}

#endif
