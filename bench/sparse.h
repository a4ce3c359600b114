/* sparse.h - cuSPARSE's tridiagonal routines under one name for both precisions, for the programs that compare with it.
   MIT licence, see LICENSE.

   A function with _bytes in its name returns the size of the buffer that the function without it needs. The latter
   replaces the right-hand side by x. */
#ifndef SPARSE_H
#define SPARSE_H

#include <cusparse.h>
#include <stdio.h>
#include <stdlib.h>

#define SPARSE_OK(call)                                                                                                \
    do {                                                                                                               \
        cusparseStatus_t sparse_status = (call);                                                                       \
        if (sparse_status != CUSPARSE_STATUS_SUCCESS) {                                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cusparseGetErrorString(sparse_status));      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* strided: systems one after another; interleaved: interleaved systems, whose a, b, c are overwritten as well; single:
   one system, with pivoting or without. */
#define SPARSE_TYPED(T, X)                                                                                             \
    static inline size_t sparse_strided_bytes(cusparseHandle_t h, int n, const T *a, const T *b, const T *c,           \
                                              const T *x, int batch)                                                   \
    {                                                                                                                  \
        size_t bytes;                                                                                                  \
        SPARSE_OK(cusparse##X##gtsv2StridedBatch_bufferSizeExt(h, n, a, b, c, x, batch, n, &bytes));                   \
        return bytes;                                                                                                  \
    }                                                                                                                  \
    static inline void sparse_strided(cusparseHandle_t h, int n, const T *a, const T *b, const T *c, T *x, int batch,  \
                                      void *buffer)                                                                    \
    {                                                                                                                  \
        SPARSE_OK(cusparse##X##gtsv2StridedBatch(h, n, a, b, c, x, batch, n, buffer));                                 \
    }                                                                                                                  \
    static inline size_t sparse_interleaved_bytes(cusparseHandle_t h, int algo, int n, const T *a, const T *b,         \
                                                  const T *c, const T *x, int batch)                                   \
    {                                                                                                                  \
        size_t bytes;                                                                                                  \
        SPARSE_OK(cusparse##X##gtsvInterleavedBatch_bufferSizeExt(h, algo, n, a, b, c, x, batch, &bytes));             \
        return bytes;                                                                                                  \
    }                                                                                                                  \
    static inline void sparse_interleaved(cusparseHandle_t h, int algo, int n, T *a, T *b, T *c, T *x, int batch,      \
                                          void *buffer)                                                                \
    {                                                                                                                  \
        SPARSE_OK(cusparse##X##gtsvInterleavedBatch(h, algo, n, a, b, c, x, batch, buffer));                           \
    }                                                                                                                  \
    static inline size_t sparse_single_bytes(cusparseHandle_t h, int pivot, int n, const T *a, const T *b, const T *c, \
                                             const T *x)                                                               \
    {                                                                                                                  \
        size_t bytes;                                                                                                  \
        if (pivot)                                                                                                     \
            SPARSE_OK(cusparse##X##gtsv2_bufferSizeExt(h, n, 1, a, b, c, x, n, &bytes));                               \
        else                                                                                                           \
            SPARSE_OK(cusparse##X##gtsv2_nopivot_bufferSizeExt(h, n, 1, a, b, c, x, n, &bytes));                       \
        return bytes;                                                                                                  \
    }                                                                                                                  \
    static inline void sparse_single(cusparseHandle_t h, int pivot, int n, const T *a, const T *b, const T *c, T *x,   \
                                     void *buffer)                                                                     \
    {                                                                                                                  \
        if (pivot)                                                                                                     \
            SPARSE_OK(cusparse##X##gtsv2(h, n, 1, a, b, c, x, n, buffer));                                             \
        else                                                                                                           \
            SPARSE_OK(cusparse##X##gtsv2_nopivot(h, n, 1, a, b, c, x, n, buffer));                                     \
    }
SPARSE_TYPED(float, S)
SPARSE_TYPED(double, D)
#undef SPARSE_TYPED

#endif
