/* plan.h - a room of trid/batch.h: the data of a launch: its method, plan, tiles, rows and report.
   MIT licence, see LICENSE. */

/* Precedes a member function that runs on the device. */
#ifdef __CUDACC__
#define TRID_P_BATCH_MEMBER __device__ __forceinline__
#else
#define TRID_P_BATCH_MEMBER inline
#endif

/* The choices that select shapes and kernels. */
struct trid_p_batch_how {
    /* The method, or several joined by |. The hybrid has other names for some interleaved systems: beyond, reduced and
       shared_else.
         beyond, reduced        systems that no block holds; the reduced systems of long ones
         shared, shared_else    one matrix for all systems; the same where no kernel of `shared` serves
         checked, refined       with residuals; with residuals and a step of refinement
         several                trid_batch_several: LU, or the hybrid where its contract says so
         factored               the same from stored factors; only interleaved systems have shapes of their own for it
         factor                 computes the factors and stores them
         one_ring               interleaved periodic systems with one right-hand side: by the hybrid, or by LU where
                                rows are not dominant
         periodic               long periodic systems, in chunks */
    static constexpr int hybrid = 1, beyond = 2, reduced = 4, pivoted = 8, shared = 16, shared_else = 32, checked = 64;
    static constexpr int refined = 128, several = 256, factor = 512, lu = several | factor, periodic = 1024,
                         checks = checked | refined, factored = 2048, one_ring = 4096;
    /* Returns the method of the kernels that solve interleaved and long systems in a launch of method `method`. Kernels
       of method checked refine if the flags say so. */
    static constexpr int solver_of(int method)
    {
        return method == refined                           ? checked
               : method == factored                        ? several
               : method & (beyond | reduced | shared_else) ? hybrid
                                                           : method;
    }
    enum { lanes, block }; /* who solves a contiguous system: 1, 2, 4 .. 32 lanes of a warp, or a block */
    /* The layout of contiguous systems. full: as contiguous, and every tile is full (n is k times the lanes or threads
       of a system); contiguous: any n and step 1, and systems that share a warp follow one another without gaps;
       strided: any step and stride, including stride 0 for rows that all systems share. A shape for one of these
       layouts also serves those before it. */
    enum { full, contiguous, strided };
    /* The kind of kernel for interleaved systems: who takes a tile, and how its rows are loaded.
         pipelined        a block; rows arrive in shared memory while it solves the tile before
         clusters         a cluster of blocks, in the same way
         wide_clusters    the same, for many tiles of four arrays that are copied 16 bytes at a time
         unpipelined      a block, which loads rows when it needs them
         few              the same, if all blocks run at once; a thread takes few rows, so little is done in sequence
         narrow           pipelined, for so few systems, or so few in a group, that wider tiles would be slower
         .._elsewhere     left empty in code for devices that all have clusters and room for a pipeline (device.h) */
    enum { pipelined, pipelined_elsewhere, clusters, wide_clusters, unpipelined, unpipelined_elsewhere, few, narrow };
};

/* The systems for which a call compiles kernels: those of `least` .. `most` rows, of both layouts or of only one. */
template <int of_most, int of_least, int of_only>
struct trid_p_batch_bounds {
    static constexpr int most = of_most, least = of_least, only = of_only;
    static constexpr bool contiguous = !(only & TRID_BATCH_ONLY_INTERLEAVED);
    static constexpr bool interleaved = !(only & TRID_BATCH_ONLY_CONTIGUOUS);
    static constexpr bool has_long = most > 1024; /* systems that may need scratch */
};

enum { TRID_P_BATCH_NO_ROW = 0x7fffffff }; /* no bad pivot */

/* The report of a launch: the fields of trid_batch_options with these names. */
struct trid_p_batch_report {
    int *status;
    float *residual;
    double tolerance;
    unsigned long long *failed;
};

/* A launch's constants. */
struct trid_p_batch_plan {
    trid_lines lines;
    int n, lanes, lanes_log2; /* rows of a system; contiguous: the lanes that hold it, 32 if a block does; their log2 */
    int flags;
    unsigned magic;     /* f * magic >> 20 is f / n for f < 512, n <= 512; 0 if a warp has one system */
    unsigned per_group; /* tiles in a group of systems */
    unsigned tiles;     /* in all groups */
    unsigned repeat;    /* contiguous, one matrix for all: tiles a warp takes; narrow tiles: groups in each */
    int repair;         /* pivoted: only systems that failed before, and those in their warps and tiles */
    void *scratch;      /* the caller's, for long systems */
    trid_p_batch_report report;
};

/* What a launch works on: its constants, the right-hand sides, where solutions go, the stream; the device, if known. */
template <class tb_real>
struct trid_p_batch_work {
    trid_p_batch_plan plan;
    const tb_real *d;
    tb_real *x;
    cudaStream_t stream;
    const trid_device *device;
};

/* Returns whether the caller wants a report. */
TB_HD int trid_p_batch_reports(const trid_p_batch_plan &plan)
{
    return plan.report.status || plan.report.failed || plan.report.residual;
}

/* Neighbouring systems of one group. */
struct trid_p_batch_tile {
    long long group, first; /* its group; the index of its first system in the group */
    int count;              /* of systems; 0: beyond the last */
};

/* Returns n, but hides from the compiler where n came from. What depends on n is then computed again instead of being
   kept in registers that the solve needs. */
template <class number>
TB_D number trid_p_batch_again_as(number n)
{
#ifdef __CUDA_ARCH__
    constexpr bool real = number(0.5) != 0;
    if constexpr (sizeof(number) == 4 && real)
        asm volatile("" : "+f"(n));
    else if constexpr (real)
        asm volatile("" : "+d"(n));
    else if constexpr (sizeof(number) == 4)
        asm volatile("" : "+r"(n));
    else
        asm volatile("" : "+l"(n));
#endif
    return n;
}

/* Returns tile number `index`, where a tile has up to `width` systems. */
TB_D trid_p_batch_tile trid_p_batch_tile_of(const trid_p_batch_plan &plan, unsigned index, int width)
{
    unsigned group = plan.lines.groups == 1 ? 0 : index / plan.per_group;
    trid_p_batch_tile tile = {group, (long long)(index - group * plan.per_group) * width, 0};
    long long left = tile.group < plan.lines.groups ? plan.lines.systems - tile.first : 0;
    tile.count = left < 0 ? 0 : left < width ? (int)left : width;
    return tile;
}

/* The matrices as arrays. For one matrix shared by all systems, stride and jump are 0. */
template <class tb_real>
struct trid_p_batch_arrays {
    const tb_real *a, *b, *c;
    long long step, stride, jump;
};

/* Additional data of a launch for several right-hand sides: the number of sides and their distance; the two corner
   elements of periodic matrices, in rows 0 and n-1; where trid_batch_factor stores u. */
template <class tb_real>
struct trid_p_batch_more {
    long long sides, pitch;
    const tb_real *top, *bottom;
    tb_real *u;
};

/* Where the interfaces of partitions are: two numbers a system, one for the first unknown f of its partition and one
   for the last unknown z. The numbers lie share by share, with `share` systems in each share but the last. The number
   for f of system s of a share is at 2*b + s if the shares before it have b systems. In a share of m systems the number
   for z is m elements further on. */
struct trid_p_batch_shares {
    long long share, lines;
    TRID_P_BATCH_MEMBER long long of(long long line, long long *pitch) const
    {
        const long long before = share < lines ? line / share * share : 0, left = lines - before;
        *pitch = left < share ? left : share;
        return before + line;
    }
};

/* The rows of partitions whose first and last unknowns are known. A kernel gets the rows from trid_p_batch_rows_of. It
   first loads the known unknowns (trid_p_batch_ask_known; pipelined: trid_p_batch_next_known), and later puts them in
   place of the first and the last row (trid_p_batch_put_known). With other rows these functions generate no code. */
template <class tb_real, class rows_type>
struct trid_p_batch_known {
    rows_type rows;
    const tb_real *ends;
    trid_p_batch_shares shares;
};

/* The matrices of a launch for several right-hand sides, and its additional data. With `factor` there are no right-hand
   sides, and the launch stores the factors: r in x, u in more.u. Periodic systems have kernels of their own: code for
   them would take registers from the solves of other systems. */
template <class tb_real, int factor, int periodic = 0>
struct trid_p_batch_lu_rows {
    trid_p_batch_arrays<tb_real> rows;
    trid_p_batch_more<tb_real> more;
};

/* One matrix for all systems, n elements each of a, b, c. As a function object it reads them from memory; neighbouring
   systems read the same element at the same time. */
template <class tb_real>
struct trid_p_batch_one_matrix {
    const tb_real *a, *b, *c;
    int n;
    TRID_P_BATCH_MEMBER void operator()(long long, int row, tb_real *ra, tb_real *rb, tb_real *rc) const
    {
        *ra = row > 0 ? a[row] : (tb_real)0;
        *rb = b[row];
        *rc = row < n - 1 ? c[row] : (tb_real)0;
    }
};

/* The properties of a type of rows: whether it is arrays, one matrix for all systems, or a function object that makes
   the rows; and whether it also holds the known first and last unknowns of each system, or is for LU. */
template <class rows_type>
struct trid_p_batch_rows {
    enum { are_arrays = 0, are_one_matrix = 0, are_known = 0, are_lu = 0 };
};
template <class tb_real>
struct trid_p_batch_rows<trid_p_batch_arrays<tb_real>> : trid_p_batch_rows<void> {
    enum { are_arrays = 1 };
};
template <class tb_real>
struct trid_p_batch_rows<trid_p_batch_one_matrix<tb_real>> : trid_p_batch_rows<void> {
    enum { are_one_matrix = 1 };
};
template <class tb_real, class rows_type>
struct trid_p_batch_rows<trid_p_batch_known<tb_real, rows_type>> : trid_p_batch_rows<rows_type> {
    enum { are_known = 1 };
};
template <class tb_real, int factor, int periodic>
struct trid_p_batch_rows<trid_p_batch_lu_rows<tb_real, factor, periodic>> : trid_p_batch_rows<void> {
    enum { are_arrays = 1, are_lu = 1 };
};

/* Returns only the rows, by value: references would change registers and instructions. */
template <class rows_type>
TB_HD auto trid_p_batch_rows_of(const rows_type &rows)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_known || trid_p_batch_rows<rows_type>::are_lu)
        return rows.rows;
    else
        return rows;
}

/* Returns the arrays to copy to shared memory: those of the rows, or none if the rows are not arrays. */
template <class tb_real, class rows_type>
TB_D decltype(auto) trid_p_batch_arrays_of(const rows_type &rows)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_arrays && !trid_p_batch_rows<rows_type>::are_known)
        return (rows); /* a reference: a copy changes the instructions of pivoted solves */
    else if constexpr (trid_p_batch_rows<rows_type>::are_arrays)
        return trid_p_batch_arrays<tb_real>(rows.rows);
    else
        return trid_p_batch_arrays<tb_real>();
}

/* A thread's rows of one system, or the results of a solve in their place. */
template <class tb_real, int k>
struct trid_p_batch_equations {
    tb_real a[k], b[k], c[k], d[k];
};

/* Returns whether the thread's first `rows` rows are so dominant that the hybrid, with k rows a thread, is as stable as
   elimination with pivoting (docs/pivoted.md). A row of zeros is not dominant. */
template <class tb_real, int k>
TB_D int trid_p_batch_are_dominant(int rows, const trid_p_batch_equations<tb_real, k> &own)
{
    constexpr tb_real least = 1 + (tb_real)1 / (8 * k * k);
    int dominant = 1;
    TB_UNROLL
    for (int j = 0; j < rows; j++) dominant &= least * (trid_abs(own.a[j]) + trid_abs(own.c[j])) < trid_abs(own.b[j]);
    return dominant;
}

/* Replaces the thread's row j by an equation that sets its unknown to x. */
template <class tb_real, int k>
TB_D void trid_p_batch_know(int j, tb_real x, trid_p_batch_equations<tb_real, k> *own)
{
    own->a[j] = own->c[j] = 0;
    own->b[j] = 1;
    own->d[j] = x;
}

/* Loads the known unknowns. From `first` on the system has `valid` rows; the thread holds up to k of them. */
template <class tb_real, class rows_type>
TB_D void trid_p_batch_ask_known(int k, const rows_type &known, long long system, int first, int valid, tb_real *end)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_known) {
        long long pitch;
        end[0] = end[1] = 0;
        if (valid <= 0 || (first > 0 && valid > k)) return;
        const tb_real *of = known.ends + known.shares.of(system, &pitch);
        if (first == 0) end[0] = of[0];
        if (valid <= k) end[1] = of[pitch];
    }
}

/* Turns the rows of the known unknowns into identity rows. It selects instead of branching: with branches the compiler
   would index the arrays, which would then be in local memory. */
template <class rows_type, class tb_real, int k>
TB_D void trid_p_batch_put_known_rows(const rows_type &, int first, int valid, trid_p_batch_equations<tb_real, k> *own)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_known) {
        TB_UNROLL
        for (int j = 0; j < k; j++) {
            const int known = (j == 0 && first == 0) || j == valid - 1;
            own->a[j] = known ? (tb_real)0 : own->a[j];
            own->b[j] = known ? (tb_real)1 : own->b[j];
            own->c[j] = known ? (tb_real)0 : own->c[j];
        }
    }
}

/* Puts the known unknowns into the right-hand side. */
template <class rows_type, class tb_real, int k>
TB_D void trid_p_batch_put_known_values(const rows_type &, int first, int valid, const tb_real *end,
                                        trid_p_batch_equations<tb_real, k> *own)
{
    if constexpr (trid_p_batch_rows<rows_type>::are_known) {
        own->d[0] = first == 0 ? end[0] : own->d[0];
        TB_UNROLL
        for (int j = 0; j < k; j++) own->d[j] = j == valid - 1 ? end[1] : own->d[j];
    }
}

/* Replaces the first and the last row by equations that give the known unknowns. */
template <class rows_type, class tb_real, int k>
TB_D void trid_p_batch_put_known(const rows_type &rows, int first, int valid, const tb_real *end,
                                 trid_p_batch_equations<tb_real, k> *own)
{
    trid_p_batch_put_known_rows(rows, first, valid, own);
    trid_p_batch_put_known_values(rows, first, valid, end, own);
}

/* Converts a status, 1 + a row, so that the least of several statuses is the one to report: 0 becomes
   TRID_P_BATCH_NO_ROW, and a row beyond the system becomes the last row (n). */
TB_D int trid_p_batch_row(int status, int n)
{
    return status <= 0 ? TRID_P_BATCH_NO_ROW : status < n ? status : n;
}

/* Returns whether to solve a warp's systems: always, but with repair only if one of them has a status other than 0. */
TB_D int trid_p_batch_wanted(const trid_p_batch_plan &plan, long long system, int own_n)
{
    return !plan.repair || __any_sync(TB_FULL_WARP, own_n && plan.report.status[system] != 0);
}

/* The largest residual |r| and the largest |A||x| + |d| of some rows, each kept as the upper 32 bits of the number.
   Since no such number is negative, integers with these bits are in the same order, with NaN above all, and one
   instruction takes the larger. In double precision 20 bits of the fraction are left; the reported float has 23. */
struct trid_p_batch_worst {
    unsigned error, size;
};
/* Returns the upper 32 bits of x, which is not negative. */
template <class tb_real>
TB_D unsigned trid_p_batch_bits(tb_real x)
{
    if constexpr (sizeof(tb_real) == 4)
        return __float_as_uint(x);
    else
        return (unsigned)(__double_as_longlong(x) >> 32);
}
/* Returns the number that has these upper 32 bits (in double precision with zeros below them). */
template <class tb_real>
TB_D tb_real trid_p_batch_number(unsigned bits)
{
    if constexpr (sizeof(tb_real) == 4)
        return __uint_as_float(bits);
    else
        return __longlong_as_double((long long)bits << 32);
}

/* Reports on one system. With `checked` it also reports the residual, the quotient of the two numbers of `worst`. These
   must be taken over all rows of the system.
   Lanes    one thread */
template <int checked = 0, class tb_real = float>
TB_D void trid_p_batch_tell(const trid_p_batch_plan &plan, long long system, int bad, trid_p_batch_worst worst = {0, 0})
{
    const trid_p_batch_report &report = plan.report;
    int status = bad == TRID_P_BATCH_NO_ROW ? 0 : bad;
    if (checked) {
        const tb_real error = trid_p_batch_number<tb_real>(worst.error),
                      size = trid_p_batch_number<tb_real>(worst.size);
        const tb_real quotient = error == 0 && size == 0 ? (tb_real)0 : error / size;
        const tb_real residual = trid_finite(size) ? quotient : error + size; /* an overflow hides no error */
        if (!status && !(residual <= (tb_real)report.tolerance)) status = plan.n + 1;
        if (report.residual) report.residual[system] = (float)residual;
    }
    if (report.status) report.status[system] = status;
    if (status && report.failed) {
        atomicAdd(&report.failed[0], 1ull);
        atomicMin(&report.failed[1], (unsigned long long)system);
    }
}

/* Returns whether the residual of some rows is so small that a step of refinement would not make it smaller. */
template <class tb_real>
TB_D int trid_p_batch_is_small(const trid_p_batch_worst &worst)
{
    constexpr tb_real few = sizeof(tb_real) == 4 ? 0x1p-22f : 0x1p-51; /* 4 unit roundoffs */
    return trid_p_batch_number<tb_real>(worst.error) <= few * trid_p_batch_number<tb_real>(worst.size);
}

/* Returns a row's residual, and raises the numbers of `worst`. `up` and `down` are x in the rows above and below. */
template <class tb_real>
TB_D tb_real trid_p_batch_residual_row(tb_real a, tb_real b, tb_real c, tb_real d, tb_real x, tb_real up, tb_real down,
                                       trid_p_batch_worst *worst)
{
    tb_real au = a * up, bx = b * x, cd = c * down;
    tb_real rest = d - bx - au - cd, all = fabs(d) + fabs(bx) + fabs(au) + fabs(cd);
    worst->error = max(worst->error, trid_p_batch_bits(fabs(rest)));
    worst->size = max(worst->size, trid_p_batch_bits(all));
    return rest;
}

/* Computes in `rest` the residual of x in the thread's first `valid` rows, which begin with row `first` of the system.
   `around` holds x on either side. Terms beyond the ends are left out: 0 times another system's NaN would be NaN. */
template <class tb_real, int k>
TB_D void trid_p_batch_defect(int first, int n, int valid, const trid_p_batch_equations<tb_real, k> &own,
                              const tb_real *x, const tb_real *around, tb_real *rest, trid_p_batch_worst *worst)
{
    TB_UNROLL
    for (int j = 0; j < k; j++) {
        const int above = first + j > 0, below = first + j < n - 1;
        const tb_real up = j > 0 ? x[j - 1] : around[0], down = j < k - 1 ? x[j + 1] : around[1], none = 0;
        rest[j] = j < valid ? trid_p_batch_residual_row(above ? own.a[j] : none, own.b[j], below ? own.c[j] : none,
                                                        own.d[j], x[j], above ? up : none, below ? down : none, worst)
                            : none;
    }
}

/* 16 bytes. */
template <class tb_real>
struct alignas(16) trid_p_batch_word {
    tb_real v[16 / sizeof(tb_real)];
};
