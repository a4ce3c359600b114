/* copies.h - asynchronous copies to shared memory, and launches that begin early. */
#ifndef SIMT_COPIES_H
#define SIMT_COPIES_H

#include "block.h"

SIMT_OWN bool simt_is_shared(const void *address)
{
    return (uintptr_t)address - (uintptr_t)simt.shared < simt.shared_range;
}

/* cp.async. Reads the source here as well, so that the address sanitizer names the right line. The destination's old
   contents must not matter, so NaN replaces them. */
SIMT_OWN void simt_copy_async(void *to, const void *from, int bytes)
{
    char seen[16];
    simt_require_kernel(SIMT_NOTHING);
    if (bytes != 4 && bytes != 8 && bytes != 16)
        simt_fault(simt.current, "asynchronous copy of %d bytes", bytes);
    if (((uintptr_t)to | (uintptr_t)from) % (unsigned)bytes)
        simt_fault(simt.current, "asynchronous copy of %d bytes to or from an address that is not aligned to as many",
                   bytes);
    if (!simt_is_shared(to) || simt_is_shared(from))
        simt_fault(simt.current, "asynchronous copy that is not from global to shared memory");
    simt_watch_access(from, (size_t)bytes, SIMT_READ);
    simt_watch_access(to, (size_t)bytes, SIMT_WRITE);
    simt_watch_copy(to, (size_t)bytes, true);
    memcpy(seen, from, (size_t)bytes);
    __asm__ volatile("" : : "r"(seen) : "memory");
    memset(to, SIMT_POISON, (size_t)bytes);
    simt_thread &thread = simt.threads[simt.current];
    thread.copies.push_back(simt_copy{to, from, bytes, thread.commits});
}

/* cp.async.commit_group */
SIMT_OWN void simt_copy_commit(void)
{
    simt_require_kernel(SIMT_NOTHING);
    simt.threads[simt.current].commits++;
}

/* cp.async.wait_group n: completes the copies of all groups but the last n, which read their sources only now. A copy
   that was not committed belongs to no group. */
SIMT_OWN void simt_copy_await(int n)
{
    simt_require_kernel(SIMT_NOTHING);
    simt_thread &thread = simt.threads[simt.current];
    size_t left = 0;
    for (const simt_copy &copy : thread.copies) {
        if (copy.group >= thread.commits - n) {
            thread.copies[left++] = copy;
            continue;
        }
        memcpy(copy.to, copy.from, (size_t)copy.bytes);
        simt_watch_copy(copy.to, (size_t)copy.bytes, false);
        simt_watch_access(copy.to, (size_t)copy.bytes, SIMT_WRITE);
    }
    thread.copies.resize(left);
}

/* griddepcontrol.wait, and griddepcontrol.launch_dependents. Launches run one after another, and no program may rely on
   that, so the watch checks what is accessed before the wait. */
SIMT_OWN void simt_grid_wait(void)
{
    simt_require_kernel(SIMT_NOTHING);
    simt.threads[simt.current].has_waited = true;
}
SIMT_OWN void simt_grid_launch_dependents(void) { simt_require_kernel(SIMT_NOTHING); }

#endif
