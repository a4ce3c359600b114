/* chip.h - a room of fd1d.h, adi2d.h and adi3d.h: operations for all threads of a problem together, in a block or a
   cluster. MIT licence, see LICENSE. */
#ifndef FD_COMMON_CHIP_H
#define FD_COMMON_CHIP_H

#include "../fd.h"
#include "../../trid/launch.h"

#if TB_DEVICE_SCOPES

/* Waits for all threads of a problem whose cluster has `blocks` blocks. */
TB_D void fd_p_chip_sync(int blocks)
{
    if (blocks > 1)
        trid_cluster_sync();
    else
        __syncthreads();
}

/* Finds the least number that any thread of a problem passes as `index`, and returns it to all of them. `least` is a
   word of each block's shared memory. */
TB_D int fd_p_chip_least(int blocks, int index, int *least)
{
    if (trid_block_thread() == 0) *least = FD_P_NONE;
    __syncthreads();
    if (index != FD_P_NONE) fd_p_least(least, index);
    fd_p_chip_sync(blocks);
    TB_LOOP
    for (int r = 0; r < blocks; r++) {
        const float bits = trid_cluster_load_f32(trid_cluster_map(least, r));
        int other;
        memcpy(&other, &bits, sizeof other);
        index = other < index ? other : index;
    }
    fd_p_chip_sync(blocks);
    return index;
}

#endif

#endif
