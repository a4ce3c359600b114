/* interleaved.h - interleaved tridiagonal systems, partitioned across a block's threads, for CUDA kernels.

   MIT licence, see LICENSE. Copy trid.h and the folder trid beside it.

   The strided axes of a grid give such systems. Neighbouring threads hold neighbouring systems, so that accesses
   coalesce. Here a block of 256 threads solves 32 columns of a grid of n <= 64 rows, without a transpose. Thread t
   holds eight rows of column t % 32, from row 8 (t / 32) on. examples/block_lines.cu is a whole program:

       __shared__ float shared[TRID_BLOCK_INTERLEAVED_LEN_F32(32, 8)];
       int column = 32 * (int)blockIdx.x + (int)threadIdx.x % 32, first = 8 * ((int)threadIdx.x / 32);
       for (int j = 0; j < 8; j++) {
           size_t at = (size_t)(first + j) * width + column;
           if (first + j < n) ra[j] = a[at], rb[j] = b[at], rc[j] = c[at], rd[j] = d[at];
       }
       int status = trid_block_interleaved(8, 32, 8, n, ra, rb, rc, rd, shared);
       for (int j = 0; j < 8; j++)
           if (first + j < n) x[(size_t)(first + j) * width + column] = rd[j];

   The common contract of trid.h holds, with k rows a thread and w = log2 parts.

     block (all threads call them)
       trid_block_interleaved             interleaved systems, partitioned        reduce + expand + PCR + 2 barriers
       trid_block_interleaved_unchecked   the same without a status, for dominant matrices
       trid_block_interleaved_factor      the matrices' part of it, once          4 barriers
       trid_block_interleaved_solve       then for each right-hand side           as trid_warp_solve, 2 barriers
       trid_block_interleaved_solve_stored    the same with the factors in memory
       trid_block_interleaved_exchange    moves reduced rows to the threads that solve them
     sizes
       trid_block_interleaved_bytes, trid_block_interleaved_solve_bytes
       trid_interleaved_slot, trid_log2   where a block stores reduced rows; log2 of a power of two */

#ifndef TB_BODY
#ifndef TRID_INTERLEAVED_H
#define TRID_INTERLEAVED_H

#include "../trid.h"

/* Lengths of the caller's arrays, in elements. */
#define TRID_INTERLEAVED_FACTOR_LEN(k) (5 * (k) + 12) /* f of trid_block_interleaved_factor, for each thread */
#define TRID_BLOCK_INTERLEAVED_LEN_F32(systems, parts)                                                                 \
    TRID_INTERLEAVED_LEN(systems, parts, 32) /* trid_block_interleaved, for the block */
#define TRID_BLOCK_INTERLEAVED_LEN_F64(systems, parts) TRID_INTERLEAVED_LEN(systems, parts, 16)
#define TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F32(systems, parts)                                                           \
    TRID_INTERLEAVED_SOLVE_LEN(systems, parts, 32) /* trid_block_interleaved_factor and _solve */
#define TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F64(systems, parts) TRID_INTERLEAVED_SOLVE_LEN(systems, parts, 16)

/* Define the slots of reduced rows in shared memory, for `systems` systems of `parts` partitions. Both numbers are
   powers of two, and systems * parts is a multiple of 32. Shared memory serves a warp's access `banks` words at a time:
   32 of four bytes, or 16 of eight. Partition j of system i has the number t = i + systems j. Threads write in the
   order t and read in the order j + parts i; in each order the words served together must be in different banks. So
   max(banks/parts, 1) words of padding follow each row of max(systems, banks) words, and the words of the banks/parts
   systems that are read together lie in different banks. */
#define TRID_P_INTERLEAVED_GAP(parts, banks) ((parts) < (banks) ? (banks) / (parts) : 1)
#define TRID_P_INTERLEAVED_ROW(systems, banks) ((systems) > (banks) ? (systems) : (banks))
#define TRID_INTERLEAVED_SLOT(systems, parts, banks, t)                                                                \
    ((t) + (t) / TRID_P_INTERLEAVED_ROW(systems, banks) * TRID_P_INTERLEAVED_GAP(parts, banks))
#define TRID_INTERLEAVED_LEN(systems, parts, banks)                                                                    \
    (6 * TRID_INTERLEAVED_SLOT(systems, parts, banks, (systems) * (parts)))
#define TRID_INTERLEAVED_SOLVE_LEN(systems, parts, banks)                                                              \
    (3 * TRID_INTERLEAVED_SLOT(systems, parts, banks, (systems) * (parts)))

#if TB_DEVICE_SCOPES

/* Returns log2 n, where n is a power of two. */
TB_D int trid_log2(int n)
{
    return 31 - __clz(n);
}

/* Returns TRID_INTERLEAVED_SLOT, computed with shifts, for sizes that are not known at compile time. */
TB_D int trid_interleaved_slot(int systems, int parts, int banks, int t)
{
    return t +
           (t >> trid_log2(TRID_P_INTERLEAVED_ROW(systems, banks))) * (parts < banks ? banks >> trid_log2(parts) : 1);
}

#endif

#ifndef __cplusplus
#define trid_block_interleaved_bytes TB_OF(trid_block_interleaved_bytes)
#define trid_block_interleaved_solve_bytes TB_OF(trid_block_interleaved_solve_bytes)
#else
#define trid_block_interleaved_bytes_f32 tb_f32::trid_block_interleaved_bytes
#define trid_block_interleaved_bytes_f64 tb_f64::trid_block_interleaved_bytes
#define trid_block_interleaved_solve_bytes_f32 tb_f32::trid_block_interleaved_solve_bytes
#define trid_block_interleaved_solve_bytes_f64 tb_f64::trid_block_interleaved_solve_bytes
#endif

#define TB_BODY "interleaved.h"
#include "twice.h"

#endif /* TRID_INTERLEAVED_H */
#else /* TB_BODY: C over tb_real */

/* Returns the bytes of shared memory that a launch needs for trid_block_interleaved: six arrays, each with one number
   per partition, and padding. In double precision 32 systems of 8 partitions take 6 (256 + 256 / 32 * 2) * 8 = 13056
   bytes. */
TB_HD size_t trid_block_interleaved_bytes(int systems, int parts)
{
    return (size_t)TRID_INTERLEAVED_LEN(systems, parts, TRID_BANKS) * sizeof(tb_real);
}

/* Returns the same for trid_block_interleaved_factor and _solve. */
TB_HD size_t trid_block_interleaved_solve_bytes(int systems, int parts)
{
    return (size_t)TRID_INTERLEAVED_SOLVE_LEN(systems, parts, TRID_BANKS) * sizeof(tb_real);
}

#if TB_DEVICE_SCOPES

/* Implements trid_block_interleaved and, with report = 0, trid_block_interleaved_unchecked. */
TB_D int trid_p_block_interleaved(int k, int systems, int parts, int n, tb_real *a, tb_real *b, tb_real *c, tb_real *d,
                                  tb_real *shared, int report)
{
    enum { banks = TRID_BANKS };
    int thread = trid_block_thread(), partition = thread >> trid_log2(systems);
    int part = trid_interleaved_slot(systems, parts, banks, systems * parts); /* elements in one of the six arrays */
    trid_lane_pad(k, k * partition, n, k * parts, a, b, c, d);
    int status = trid_lane_reduce(k, a, b, c, d);

    tb_real *first = shared, *last = shared + 3 * part;
    int slot = trid_interleaved_slot(systems, parts, banks, thread);
    if (k > 1) {
        first[slot] = a[0];
        first[part + slot] = c[0];
        first[2 * part + slot] = d[0];
    }
    last[slot] = a[k - 1];
    last[part + slot] = c[k - 1];
    last[2 * part + slot] = d[k - 1];
    __syncthreads();

    /* From here on this thread serves partition `rank` of system thread / parts, which was written as number `own`. */
    int rank = thread & (parts - 1), own = (thread >> trid_log2(parts)) + systems * rank;
    int solved = trid_interleaved_slot(systems, parts, banks, own),
        below = trid_interleaved_slot(systems, parts, banks, own + systems);
    tb_real row_a = last[solved], row_c = last[part + solved], row_d = last[2 * part + solved];
    int bad = 0;
    if (k > 1) {
        int next = rank + 1 < parts;
        bad = trid_lane_link(&row_a, &row_c, &row_d, next ? first[below] : 0, next ? first[part + below] : 0,
                             next ? first[2 * part + below] : 0);
    }
    bad |= trid_warp_pcr(parts, parts, row_a, row_c, &row_d);
    last[2 * part + solved] = row_d; /* no other thread needs the two old words that are overwritten here */
    if (report) last[solved] = bad & 1 ? (tb_real)1 : bad ? (tb_real)2 : (tb_real)0;
    __syncthreads();

    tb_real left = partition > 0 ? last[2 * part + trid_interleaved_slot(systems, parts, banks, thread - systems)] : 0;
    trid_lane_expand(k, a, c, d, left, last[2 * part + slot]);
    return trid_lane_status(k * partition, k, n, k * parts, status, report ? (int)last[slot] : 0);
}

/* Solves `systems` interleaved systems, such as the strided axes of a grid give. Thread t holds rows k*(t / systems) ..
   k*(t / systems) + k-1 of system t % systems, so that loads of neighbouring systems coalesce:
                threads 0 .. systems-1             systems 0 .. systems-1, rows 0 .. k-1
                threads systems .. 2*systems-1     systems 0 .. systems-1, rows k .. 2k-1    ...   `parts` partitions
   The reduced rows pass through shared memory to groups of `parts` lanes. Each group solves one system, and the
   unknowns return the same way.
   Needs    k >= 1 as a literal. systems and parts are powers of two, parts <= 32, and systems*parts is the number of
            threads of the block, a multiple of 32; other sizes are not reported. Both are literals, or else the same in
            all threads, which costs two to three dozen more operations. n <= k*parts may differ between systems. The a
            of row 0, the c of row n-1 and the rows from n on are not read.
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on; a, b, c clobbered
   Returns  as trid_warp_hybrid, for the thread's own system: -1 if n > k*parts; the smallest positive status of the
            system's threads names the row where the failure began
   Shared   TRID_BLOCK_INTERLEAVED_LEN_F32 or _F64 (systems, parts) elements (above 48 KiB a launch needs
            cudaFuncSetAttribute). Storing rows, loading a partition's own row and storing unknowns cause no bank
            conflicts. Loading another partition's row or unknown takes up to one extra cycle for each half of a warp
            (tests/test_banks.c counts them). Two barriers inside; call __syncthreads() before another use.
   Cost     that of trid_warp_hybrid with lanes = parts, but link and expansion go through shared memory, with 8
            stores and 9 loads; one store and one load of these are for the status */
TB_D int trid_block_interleaved(int k, int systems, int parts, int n, tb_real *a, tb_real *b, tb_real *c, tb_real *d,
                                tb_real *shared)
{
    return trid_p_block_interleaved(k, systems, parts, n, a, b, c, d, shared, 1);
}

/* Solves as trid_block_interleaved does, but returns no status, for matrices that are known to be dominant.
   Needs, Lanes, Leaves, Shared as trid_block_interleaved
   Cost     about a tenth less: returning a failure that another thread found takes instructions, even if the caller
            ignores it */
TB_D void trid_block_interleaved_unchecked(int k, int systems, int parts, int n, tb_real *a, tb_real *b, tb_real *c,
                                           tb_real *d, tb_real *shared)
{
    trid_p_block_interleaved(k, systems, parts, n, a, b, c, d, shared, 0);
}

/* Exchanges reduced rows through the first two of the three arrays in shared memory. The thread that holds a partition
   gives one word of its first row (if k > 1) and one of its last. In return it gets a word of the last row of the
   partition that it solves (*last) and a word of the first row of the next partition (*first, if k > 1). A system's
   last partition has no next one, and gets its own first word. */
TB_D void trid_block_interleaved_exchange(int k, int systems, int parts, tb_real *first, tb_real *last, tb_real *shared)
{
    enum { banks = TRID_BANKS };
    int thread = trid_block_thread(), rank = thread & (parts - 1), own = (thread >> trid_log2(parts)) + systems * rank,
        next = rank + 1 < parts ? own + systems : own;
    int part = trid_interleaved_slot(systems, parts, banks, systems * parts),
        slot = trid_interleaved_slot(systems, parts, banks, thread);
    if (k > 1) shared[slot] = *first;
    shared[part + slot] = *last;
    __syncthreads();
    if (k > 1) *first = shared[trid_interleaved_slot(systems, parts, banks, next)];
    *last = shared[part + trid_interleaved_slot(systems, parts, banks, own)];
}

/* Computes everything in trid_block_interleaved that depends on the matrices alone, once for many right-hand sides. The
   rows are laid out as in trid_block_interleaved. Systems may share a matrix or have their own: every thread stores
   what it needs for the partition that it holds and for the reduced row that it solves, which may belong to another
   system. *steps receives how many of the w PCR steps matter to the systems that this warp solves, as in
   trid_warp_factor; warps may differ. If steps is null, all w steps are stored.
   Needs    k, systems, parts, n, a, b, c as trid_block_interleaved; f of TRID_INTERLEAVED_FACTOR_LEN(k) elements, in
            registers
   Lanes    all threads of the block
   Leaves   f and *steps for trid_block_interleaved_solve; a, b, c as they were
   Returns  as trid_block_interleaved
   Shared   TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F32 or _F64 (systems, parts) elements; bank conflicts as
            trid_block_interleaved; four barriers inside; trid_block_interleaved_solve and _factor may use the same
            elements again without a barrier; call __syncthreads() before any other use
   Cost     about that of one trid_block_interleaved, and one vote of the warp per step
   Error    as trid_warp_factor */
TB_D int trid_block_interleaved_factor(int k, int systems, int parts, int n, const tb_real *a, const tb_real *b,
                                       const tb_real *c, tb_real *f, int *steps, tb_real *shared)
{
    enum { banks = TRID_BANKS };
    int thread = trid_block_thread(), partition = thread >> trid_log2(systems),
        solved = (thread >> trid_log2(parts)) + systems * (thread & (parts - 1));
    tb_real *said = shared + 2 * trid_interleaved_slot(systems, parts, banks, systems * parts);
    int status = trid_p_factor_partition(k, k * partition, n, k * parts, a, b, c, f);
    const tb_real *left = f + TRID_P_LEFT * k, *last = f + TRID_P_LAST * k;
    tb_real first_a = left[0], last_a = left[k - 1], first_c = last[0];
    tb_real *link = f + TRID_P_REDUCED * k + TRID_P_LINK;
    *link = last[k - 1];
    trid_block_interleaved_exchange(k, systems, parts, &first_a, &last_a, shared);
    __syncthreads();
    trid_block_interleaved_exchange(k, systems, parts, &first_c, link, shared);
    int bad = trid_p_factor_reduced(k, parts, last_a, first_a, first_c, f, steps);
    said[trid_interleaved_slot(systems, parts, banks, solved)] = (tb_real)bad;
    __syncthreads(); /* also because the next call writes the first two arrays */
    bad = (int)said[trid_interleaved_slot(systems, parts, banks, thread)];
    return trid_lane_status(k * partition, k, n, k * parts, status, bad);
}

/* Solves as trid_block_interleaved_solve does, with the factors in memory: they take no registers, and systems with the
   same matrix may share them. Of the elements that trid_block_interleaved_factor leaves, the first 5 k are for the
   partition that the thread holds: element e lies at f[e * stride]. The others are for the reduced row that the thread
   solves: element 5 k + e lies at reduced[e * stride].
   Needs    as trid_block_interleaved_solve */
TB_D void trid_block_interleaved_solve_stored(int k, int systems, int parts, int n, int steps, const tb_real *f,
                                              const tb_real *reduced, int stride, tb_real *d, tb_real *shared)
{
    enum { banks = TRID_BANKS };
    int thread = trid_block_thread(), partition = thread >> trid_log2(systems),
        solved = (thread >> trid_log2(parts)) + systems * (thread & (parts - 1));
    tb_real *unknowns = shared + 2 * trid_interleaved_slot(systems, parts, banks, systems * parts);
    trid_p_solve_partition(k, k * partition, n, k * parts, f, stride, d);
    tb_real first = d[0], last = d[k - 1];
    trid_block_interleaved_exchange(k, systems, parts, &first, &last, shared);
    unknowns[trid_interleaved_slot(systems, parts, banks, solved)] =
        trid_p_solve_reduced(k, parts, steps, reduced, stride, last, first);
    __syncthreads();
    int above = partition > 0 ? thread - systems : thread; /* the first partition couples to nothing above */
    tb_real left = unknowns[trid_interleaved_slot(systems, parts, banks, above)],
            x = unknowns[trid_interleaved_slot(systems, parts, banks, thread)];
    trid_p_expand(k, f + TRID_P_LEFT * k * stride, f + TRID_P_LAST * k * stride, stride, d, left, x);
}

/* Solves the systems that trid_block_interleaved_factor factored, for one right-hand side each.
   Needs    k, systems, parts, n and f as in trid_block_interleaved_factor, and the number of steps that it left in this
            thread's *steps, or w if steps was null. Rows from n on are read as 0; if d is already 0 there,
            n = k*parts saves the test.
   Lanes    all threads of the block
   Leaves   x in d, 0 in rows from n on
   Shared   as trid_block_interleaved_factor, but two barriers inside. The unknowns return through an array of their
            own, so threads may still read them while the next call writes the other arrays.
   Cost     that of trid_warp_solve with lanes = parts, but link and expansion go through shared memory, with 3
            stores and 4 loads
   Error    as trid_warp_solve */
TB_D void trid_block_interleaved_solve(int k, int systems, int parts, int n, int steps, const tb_real *f, tb_real *d,
                                       tb_real *shared)
{
    trid_block_interleaved_solve_stored(k, systems, parts, n, steps, f, f + 5 * k, 1, d, shared);
}

#endif /* TB_DEVICE_SCOPES */

#endif /* TB_BODY */
