/* device_memory.h - device memory for the tests of pde/fd1d.h, pde/adi2d.h and pde/adi3d.h. Include it after one of
   their headers of cases. MIT licence, see LICENSE. */
#ifndef DEVICE_MEMORY_H
#define DEVICE_MEMORY_H

#include "gpu.h"

#include <vector>

/* Device memory between guards: full of NaN, or a copy of `from`. */
struct device_memory {
    unsigned char *whole;
    size_t bytes;
    explicit device_memory(size_t size, const void *from = NULL) : whole(NULL), bytes(size)
    {
        std::vector<unsigned char> image(bytes + 2 * CASE_GUARD, (unsigned char)CASE_GUARD_BYTE);
        const unsigned char *given = (const unsigned char *)from;
        for (size_t k = 0; k < bytes; k++) image[CASE_GUARD + k] = given ? given[k] : (unsigned char)CASE_FILL;
        GPU_OK(cudaMalloc((void **)&whole, image.size()));
        GPU_OK(cudaMemcpy(whole, image.data(), image.size(), cudaMemcpyHostToDevice));
    }
    device_memory(const device_memory &) = delete;
    device_memory &operator=(const device_memory &) = delete;
    ~device_memory() { GPU_OK(cudaFree(whole)); }
    void *data() const { return whole + CASE_GUARD; }
    /* Copies the memory back, unless `to` is null. Returns whether the guards are intact. */
    bool back(void *to) const
    {
        std::vector<unsigned char> image(bytes + 2 * CASE_GUARD);
        GPU_OK(cudaMemcpy(image.data(), whole, image.size(), cudaMemcpyDeviceToHost));
        if (to && bytes) memcpy(to, image.data() + CASE_GUARD, bytes);
        bool kept = true;
        for (size_t k = 0; k < CASE_GUARD; k++)
            kept &= image[k] == CASE_GUARD_BYTE && image[CASE_GUARD + bytes + k] == CASE_GUARD_BYTE;
        return kept;
    }
};

#endif
