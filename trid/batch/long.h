/* long.h - a room of trid/batch.h: solves long systems in chunks, and the reduced systems that these leave.
   MIT licence, see LICENSE. */

/* A system is cut into chunks. Several threads hold a chunk, k rows each. The first unknown f and the last unknown z of
   each chunk are kept, and the others eliminated. The two rows that are left,

       a l + b f + c z = d      l: z of the chunk before          row 2i of the reduced system, for chunk i
       a f +   z + c g = d      g: f of the next chunk            row 2i + 1

   are rows of a tridiagonal system of two rows for each chunk. That system is stored in scratch. The same call solves
   it, again in chunks if it is still too long. Then each chunk is a system of its own, whose first and last unknowns, f
   and z, are known. So, without residuals, a, b, c, d are read twice, and x is written once. If a chunk reaches beyond
   the system's end, it has identity rows there, and z is the unknown of the last of them.

   A periodic system leaves a periodic one: row 0 keeps its a and row n-1 its c. The rows beyond the last whole chunk
   enter the reduced system unchanged.

   A bad row shows when its chunk is reduced, when the reduced system is solved, or only when the chunk is solved.
   In the reduced system row 2i stands for the first row of chunk i, and row 2i + 1 for its last. */
template <class tb_real>
struct trid_p_batch_levels {
    trid_p_batch_plan plan;
    unsigned chunks;             /* chunks of a system. The last may be incomplete; in periodic systems it then stands
                                    for the rows beyond the last whole chunk */
    tb_real *reduced[4];         /* a, b, c, d of the reduced systems; later d is their x */
    long long row, system;       /* distance between two rows of a reduced system, and between two such systems */
    int *worst;                  /* two numbers for each system: the first bad row found in its chunks before the
                                    reduced system is solved, and the first of those found afterwards; or null */
    const int *below;            /* for each system the status of its reduced system */
    unsigned *largest;           /* checked: for each system the bits of the largest |r| and of the largest |A||x| + |d|
                                    (trid_p_batch_worst) */
    tb_real *keep;               /* refined: the array in which the first x is stored .. */
    const tb_real *before;       /* .. and the one from which it is then read */
    const tb_real *top, *bottom; /* periodic: the corners, as in trid_p_batch_more */
    /* Returns where a chunk's rows begin in the reduced systems. */
    TRID_P_BATCH_MEMBER long long at(long long of, int chunk) const { return of * system + 2 * chunk * row; }
};

/* What each byte of worst holds at first. An int of four such bytes exceeds any row's number. */
enum { TRID_P_BATCH_NO_ROW_BYTE = 0x7f };

/* Notes a bad row of a chunk, found before or after the reduced system is solved. */
TB_D void trid_p_batch_failed(int *worst, long long system, int after, int bad)
{
    if (worst && bad != TRID_P_BATCH_NO_ROW) atomicMin(&worst[2 * system + after], bad);
}

/* ---- who has a chunk --------------------------------------------------------------------------------------------- */

/* A thread is number `part` of the `parts` that hold chunk `index` of a system. It holds the system's rows from `first`
   on, and the system ends `valid` rows later. The functions:
     begin()         sets all this; returns 0 if there is nothing to do
     in_batch()      whether the thread has a system
     own_at(), matrix_at()   where the thread's rows begin in d and x, and where its system begins in the matrix
     load()          loads the thread's rows
     load_again()    loads them again, from shared memory if the chunk keeps them there
     load_before()   loads the x that an earlier solve found for the thread's rows and for those before and after them
     solve()         leaves x in d; with `open`, only reduces the chunk. Returns the first bad row that the thread
                     knows of
     around()        finds x of the rows before and after the thread's rows, if they are in the chunk
     raise()         raises the system's largest error and size (trid_p_batch_worst), if the thread's are larger
     store()         stores x, or keeps it for load_before() */
template <class tb_real, int k, int systems, int parts, int path, int keeps>
struct trid_p_batch_chunk;

/* A warp holds a chunk of one system, contiguous or strided. */
template <class tb_real, int rows_a_lane, int path, int keeps>
struct trid_p_batch_chunk<tb_real, rows_a_lane, 1, 32, path, keeps> {
    enum {
        k = rows_a_lane,
        scope = trid_p_batch_how::block, /* a warp has rows of one system */
        parts = 32,
        warps = TRID_P_BATCH_WARPS(tb_real),
        threads = 32 * warps,
        len = TRID_P_BATCH_LEN(tb_real, k),
        apart = keeps ? len + 32 : 0 /* in shared memory, from a to b, from b to c, and so on to d and x */
    };
    struct memory {
        tb_real of[warps][(keeps ? 5 : 1) * (len + 32)];
    };
    typedef trid_p_batch_equations<tb_real, k> held;
    const trid_p_batch_plan &plan;
    trid_p_batch_tile tile = {};
    long long system = 0, at = 0, kept_at = 0; /* its index; where the chunk begins in d and x, and in the kept x */
    int index = 0, part = 0, first = 0, valid = 0, total = 0;
    tb_real *shared = 0;
    static constexpr const int *no_slots = 0; /* slots follow one another */

    static constexpr int resident(int checked)
    {
        return checked ? 1 : path == trid_p_batch_how::strided ? 4 : sizeof(tb_real) == 4 ? 5 : 6;
    }
    static unsigned blocks(const trid_p_batch_plan &plan, unsigned chunks)
    {
        return (plan.tiles * chunks + warps - 1) / warps;
    }
    TRID_P_BATCH_MEMBER int begin(unsigned chunks, memory *own, int thread = (int)threadIdx.x)
    {
        const unsigned number = blockIdx.x * warps + (unsigned)thread / 32;
        if (number >= plan.tiles * chunks) return 0;
        const unsigned line = number / chunks, group = plan.lines.groups == 1 ? 0 : line / plan.per_group;
        tile = {group, line - group * plan.per_group, 1};
        system = line;
        index = (int)(number - line * chunks);
        at = tile.group * plan.lines.jump + tile.first * plan.lines.stride + 32 * k * index * plan.lines.step;
        kept_at = system * plan.n + 32 * k * index;
        total = plan.n - 32 * k * index;
        if (total > 32 * k) total = 32 * k;
        part = thread & 31;
        first = k * (32 * index + part), valid = plan.n - first;
        shared = own->of[thread / 32];
        return 1;
    }
    TRID_P_BATCH_MEMBER int in_batch() const { return 1; }
    TRID_P_BATCH_MEMBER long long own_at() const { return at + k * part * plan.lines.step; }
    TRID_P_BATCH_MEMBER long long matrix_at(const trid_p_batch_arrays<tb_real> &rows) const
    {
        return tile.group * rows.jump + tile.first * rows.stride;
    }
    template <class rows_type>
    TRID_P_BATCH_MEMBER void load(const rows_type &rows, const tb_real *d, held &h) const
    {
        tb_real known[2];
        trid_p_batch_ask_known(k, rows, system, first, valid, known);
        const trid_p_batch_spot here = trid_p_batch_spot_of<scope, path>(k, 0, plan, tile, index, part);
        trid_p_batch_matrix<scope, path>(plan, here, trid_p_batch_rows_of(rows), &h);
        trid_p_batch_fetch<scope, path>(k, plan, trid_p_batch_right(plan, d + at, total), h.d);
        trid_p_batch_transpose_matrix<path, 1>(trid_p_batch_rows_of(rows), valid, no_slots, shared, apart, &h);
        trid_p_batch_transpose<path, 1>(k, valid, (tb_real)0, no_slots, h.d, shared + 3 * apart);
        trid_p_batch_put_known(rows, first, valid, known, &h);
    }
    TRID_P_BATCH_MEMBER void load_again(const trid_p_batch_arrays<tb_real> &, const tb_real *, held &h) const
    {
        const tb_real *kept = shared + trid_p_batch_column<tb_real>(k);
        trid_p_batch_gather(k, 0, valid, kept, 1, h.a);
        trid_p_batch_gather(k, 0, valid, kept + apart, 1, h.b);
        trid_p_batch_gather(k, 0, valid, kept + 2 * apart, 1, h.c);
        trid_p_batch_gather(k, 0, valid, kept + 3 * apart, 1, h.d);
    }
    TRID_P_BATCH_MEMBER void load_before(const tb_real *before, tb_real *x, tb_real *around) const
    {
        trid_p_batch_fetch<scope, trid_p_batch_how::contiguous>(k, plan, {before + kept_at, 1, 0, 0, total, 0}, x);
        trid_p_batch_transpose<trid_p_batch_how::contiguous, 1>(k, valid, (tb_real)0, no_slots, x, shared + 4 * apart);
        before += kept_at + k * part;
        around[0] = first > 0 && valid > 0 ? before[-1] : (tb_real)0;
        around[1] = valid > k ? before[k] : (tb_real)0;
    }
    template <int open>
    TRID_P_BATCH_MEMBER int solve(held &h) const
    {
        int row;
        if (open) {
            const int status = trid_lane_reduce(k, h.a, h.b, h.c, h.d), end = k - 1;
            tb_real below[3] = {__shfl_down_sync(TB_FULL_WARP, h.a[0], 1), __shfl_down_sync(TB_FULL_WARP, h.c[0], 1),
                                __shfl_down_sync(TB_FULL_WARP, h.d[0], 1)};
            if (part == 31) below[0] = 0, below[1] = -1, below[2] = 0; /* stays coupled to g */
            int bad = trid_lane_link(&h.a[end], &h.c[end], &h.d[end], below[0], below[1], below[2]);
            bad |= trid_warp_pcr_open(32, &h.a[end], &h.c[end], &h.d[end]);
            /* A failure that may have begun in another row counts as the chunk's last row. */
            row = status ? k * part + status : bad & 1 ? k * (part + 1) : bad ? 32 * k : 0;
        } else {
            row = trid_warp_hybrid(k, 32, 32 * k, h.a, h.b, h.c, h.d);
        }
        return trid_p_batch_row(row ? 32 * k * index + row : 0, plan.n);
    }
    TRID_P_BATCH_MEMBER void around(const tb_real *x, tb_real *of) const
    {
        of[0] = __shfl_up_sync(TB_FULL_WARP, x[k - 1], 1);
        of[1] = __shfl_down_sync(TB_FULL_WARP, x[0], 1);
    }
    TRID_P_BATCH_MEMBER void raise(unsigned *largest, trid_p_batch_worst worst) const
    {
        for (int m = 1; m < 32; m *= 2) {
            worst.error = max(worst.error, __shfl_xor_sync(TB_FULL_WARP, worst.error, m));
            worst.size = max(worst.size, __shfl_xor_sync(TB_FULL_WARP, worst.size, m));
        }
        if (part == 0) atomicMax(&largest[2 * system], worst.error), atomicMax(&largest[2 * system + 1], worst.size);
    }
    TRID_P_BATCH_MEMBER void store(tb_real *keep, tb_real *r, tb_real *x) const
    {
        trid_p_batch_plan to = plan;
        if (keep) to.lines.step = 1, to.flags = 0;
        trid_p_batch_store<scope, path, 1>(k, to, total, valid, no_slots, r, keep ? keep + kept_at : x + at, shared);
    }
};

/* For interleaved systems, a block holds one chunk of each of `systems` systems. */
template <class tb_real, int rows_a_thread, int systems, int threads_a_chunk, int path, int keeps>
struct trid_p_batch_chunk {
    enum {
        k = rows_a_thread,
        parts = threads_a_chunk,
        threads = systems * parts,
        span = TRID_P_BATCH_SPAN(tb_real, systems, parts)
    };
    struct memory {
        tb_real of[6 * span];
        int worst[systems];
    };
    typedef trid_p_batch_equations<tb_real, k> held;
    const trid_p_batch_plan &plan;
    trid_p_batch_place place = {};
    long long system = 0;
    int index = 0, part = 0, first = 0, valid = 0, *worst = 0;
    tb_real *shared = 0;

    static constexpr int resident(int checked) { return checked ? 1 : trid_p_batch_resident<tb_real, k, threads>; }
    static unsigned blocks(const trid_p_batch_plan &plan, unsigned chunks) { return plan.tiles * chunks; }
    TRID_P_BATCH_MEMBER int begin(unsigned, memory *own)
    {
        const int line = (int)threadIdx.x % systems;
        part = (int)threadIdx.x / systems;
        index = (int)(blockIdx.x / plan.tiles);
        first = k * (parts * index + part);
        place = trid_p_batch_place_of(plan, blockIdx.x % plan.tiles, systems, line, first);
        system = place.system, valid = place.valid;
        shared = own->of, worst = own->worst;
        if (part == 0) worst[line] = TRID_P_BATCH_NO_ROW;
        return 1;
    }
    TRID_P_BATCH_MEMBER int in_batch() const { return place.in_batch; }
    TRID_P_BATCH_MEMBER long long own_at() const { return place.at; }
    TRID_P_BATCH_MEMBER long long matrix_at(const trid_p_batch_arrays<tb_real> &rows) const
    {
        return trid_p_batch_matrix_at(plan, rows, place, 0);
    }
    template <class rows_type>
    TRID_P_BATCH_MEMBER void load(const rows_type &rows, const tb_real *d, held &h) const
    {
        tb_real known[2];
        trid_p_batch_ask_known(k, rows, system, first, valid, known);
        load_again(rows, d, h);
        trid_p_batch_put_known(rows, first, valid, known, &h);
    }
    template <class rows_type>
    TRID_P_BATCH_MEMBER void load_again(const rows_type &rows, const tb_real *d, held &h) const
    {
        trid_p_batch_own_rows(plan, place, first, trid_p_batch_rows_of(rows), &h);
        trid_p_batch_gather(k, 0, valid, d + place.at, plan.lines.step, h.d);
    }
    TRID_P_BATCH_MEMBER void load_before(const tb_real *before, tb_real *x, tb_real *around) const
    {
        const long long step = plan.lines.systems * plan.lines.groups;
        before += first * step + system;
        trid_p_batch_gather(k, 0, valid, before, step, x);
        around[0] = first > 0 && valid > 0 ? before[-step] : (tb_real)0;
        around[1] = valid > k ? before[k * step] : (tb_real)0;
    }
    template <int open>
    TRID_P_BATCH_MEMBER int solve(held &h) const
    {
        const int begin = k * parts * index, line = (int)threadIdx.x % systems;
        const trid_p_batch_post<tb_real> post = {shared, worst};
        tb_real left;
        trid_p_batch_pad(!open && part == 0, valid, &h);
        int bad = trid_p_batch_sweep<systems, parts, open>(plan.n - begin, post, &h, &left);
        if (part == 0 && worst[line] < bad) bad = worst[line];
        return bad == TRID_P_BATCH_NO_ROW ? bad : trid_p_batch_row(begin + bad, plan.n);
    }
    TRID_P_BATCH_MEMBER void around(const tb_real *x, tb_real *of) const
    {
        const int thread = (int)threadIdx.x;
        shared[TRID_P_BATCH_SLOT(tb_real, systems, parts, thread)] = x[0];
        shared[span + TRID_P_BATCH_SLOT(tb_real, systems, parts, thread)] = x[k - 1];
        __syncthreads();
        of[0] = part > 0 ? shared[span + TRID_P_BATCH_SLOT(tb_real, systems, parts, thread - systems)] : (tb_real)0;
        of[1] = part < parts - 1 ? shared[TRID_P_BATCH_SLOT(tb_real, systems, parts, thread + systems)] : (tb_real)0;
    }
    TRID_P_BATCH_MEMBER void raise(unsigned *largest, trid_p_batch_worst worst) const
    {
        if (valid > 0) atomicMax(&largest[2 * system], worst.error), atomicMax(&largest[2 * system + 1], worst.size);
    }
    TRID_P_BATCH_MEMBER void store(tb_real *keep, tb_real *r, tb_real *x) const
    {
        const long long step = plan.lines.systems * plan.lines.groups;
        trid_p_batch_scatter(k, valid, keep ? 0 : plan.flags & TRID_BATCH_ADD, r, keep ? step : plan.lines.step,
                             keep ? keep + (first * step + system) : x + place.at);
    }
};

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* Replaces d by the residual of an earlier solve's x. */
template <class tb_real, class chunk_type>
TB_D void trid_p_batch_subtract_before(const chunk_type &chunk, const tb_real *before, typename chunk_type::held &h)
{
    tb_real x[chunk_type::k], around[2];
    trid_p_batch_worst worst = {0, 0};
    chunk.load_before(before, x, around);
    trid_p_batch_defect(chunk.first, chunk.plan.n, chunk.valid, h, x, around, h.d, &worst);
}

/* Puts the corners of a periodic system into its first and last row. The system begins at `at`. */
template <class tb_real, int k>
TB_D void trid_p_batch_put_corners(const trid_p_batch_levels<tb_real> &levels, long long at, int first, int valid,
                                   trid_p_batch_equations<tb_real, k> &h)
{
    const tb_real bottom = valid > 0 && valid <= k ? levels.bottom[at] : (tb_real)0;
    if (first == 0 && valid > 0) h.a[0] = levels.top[at];
    TB_UNROLL
    for (int j = 0; j < k; j++) h.c[j] = j == valid - 1 ? bottom : h.c[j];
}

/* Sets the first row of a chunk aside. The row in its place makes the unknown above the chunk equal to f. */
template <class tb_real, int k>
TB_D void trid_p_batch_set_aside(int has_above, trid_p_batch_equations<tb_real, k> &h, tb_real *top)
{
    top[0] = has_above ? h.a[0] : (tb_real)0;
    top[1] = h.b[0];
    top[2] = h.c[0];
    top[3] = h.d[0];
    h.a[0] = -1;
    h.b[0] = 1;
    h.c[0] = h.d[0] = 0;
}

/* Stores a row of the reduced systems. */
template <class tb_real>
TB_D void trid_p_batch_store_row(const trid_p_batch_levels<tb_real> &levels, long long at, tb_real a, tb_real b,
                                 tb_real c, tb_real d)
{
    levels.reduced[0][at] = a;
    levels.reduced[1][at] = b;
    levels.reduced[2][at] = c;
    levels.reduced[3][at] = d;
}

/* Reduces chunks. Each thread's last row then couples through a to f, and through c to z (in the chunk's last row, to
   g). A thread's other rows couple to its last unknown and to that of the thread before. If levels.before is set,
   the right-hand side is the residual of the x in it. */
template <class tb_real, int k, int systems, int parts, int path, int method, class rows_type,
          class chunk_type = trid_p_batch_chunk<tb_real, k, systems, parts, path, 0>>
TRID_P_BATCH_BOUNDS(chunk_type::threads, chunk_type::resident(systems == 1 && method == trid_p_batch_how::checked))
TRID_KERNEL void trid_p_batch_long_reduce(trid_p_batch_levels<tb_real> levels, rows_type rows, const tb_real *d)
{
    __shared__ typename chunk_type::memory memory;
    chunk_type chunk = {levels.plan};
    if (!chunk.begin(levels.chunks, &memory)) return;
    trid_p_batch_equations<tb_real, k> h;
    tb_real top[4] = {0, 0, 0, 0};
    const int is_first = chunk.part == 0, is_last = chunk.part == parts - 1, n = levels.plan.n;
    chunk.load(rows, d, h);
    if constexpr (method == trid_p_batch_how::periodic) {
        if (chunk.in_batch()) trid_p_batch_put_corners(levels, chunk.matrix_at(rows), chunk.first, chunk.valid, h);
        if (chunk.index == n / (k * parts)) { /* rows beyond the last whole chunk */
            const long long at = levels.at(chunk.system, chunk.index) + k * chunk.part * levels.row;
            TB_UNROLL
            for (int j = 0; j < k; j++)
                if (j < chunk.valid)
                    trid_p_batch_store_row(levels, at + j * levels.row, h.a[j], h.b[j], h.c[j], h.d[j]);
            return;
        }
        chunk.valid += chunk.in_batch(); /* below the last row is the first */
    }
    if (method == trid_p_batch_how::checked && levels.before) trid_p_batch_subtract_before(chunk, levels.before, h);
    if (chunk.valid <= 1) h.c[0] = 0; /* nothing is below */
    if (is_first) trid_p_batch_set_aside(chunk.index > 0 || method == trid_p_batch_how::periodic, h, top);
    trid_p_batch_failed(levels.worst, chunk.system, 0, chunk.template solve<1>(h));
    if (!chunk.in_batch()) return;
    const long long at = levels.at(chunk.system, chunk.index);
    if (is_first) /* row 1, in terms of f and z, is substituted into row 0 */
        trid_p_batch_store_row(levels, at, top[0], top[1] - top[2] * (h.a[1] - h.c[1] * h.a[k - 1]),
                               top[2] * (h.c[1] * h.c[k - 1]), top[3] - top[2] * (h.d[1] - h.c[1] * h.d[k - 1]));
    if (is_last) trid_p_batch_store_row(levels, at + levels.row, h.a[k - 1], (tb_real)1, h.c[k - 1], h.d[k - 1]);
}

/* Solves for the chunks' unknowns, given f and z. */
template <class tb_real, int k, int systems, int parts, int path, int method, class rows_type,
          class chunk_type = trid_p_batch_chunk<tb_real, k, systems, parts, path, method == trid_p_batch_how::checked>>
TRID_P_BATCH_BOUNDS(chunk_type::threads, chunk_type::resident(method == trid_p_batch_how::checked))
TRID_KERNEL void trid_p_batch_long_expand(trid_p_batch_levels<tb_real> levels, rows_type rows, const tb_real *d,
                                          tb_real *x)
{
    enum { checked = method == trid_p_batch_how::checked };
    __shared__ typename chunk_type::memory memory;
    chunk_type chunk = {levels.plan};
    if (!chunk.begin(levels.chunks, &memory)) return;
    trid_p_batch_equations<tb_real, k> h;
    const int is_first = chunk.part == 0, is_last = chunk.part == parts - 1, n = levels.plan.n;
    const tb_real *known = levels.reduced[3] + levels.at(chunk.system, chunk.index);
    if (method == trid_p_batch_how::periodic && chunk.index == n / (k * parts)) {
        trid_p_batch_gather(k, 0, chunk.valid, known + k * chunk.part * levels.row, levels.row, h.d);
        trid_p_batch_scatter(k, chunk.valid, levels.plan.flags & TRID_BATCH_ADD, h.d, levels.plan.lines.step,
                             x + chunk.own_at());
        return;
    }
    const auto f_or_z = [&] {
        return !chunk.in_batch() ? (tb_real)0 : is_first ? known[0] : is_last ? known[levels.row] : (tb_real)0;
    };
    tb_real end = systems == 1 ? f_or_z() : (tb_real)0; /* early, if there is a register for it */
    chunk.load(rows, d, h);
    if (systems > 1) end = f_or_z();
    if (checked && levels.before) trid_p_batch_subtract_before(chunk, levels.before, h);
    if (is_first) trid_p_batch_know(0, end, &h);
    if (is_last) trid_p_batch_know(k - 1, end, &h);
    trid_p_batch_failed(levels.worst, chunk.system, 1, chunk.template solve<0>(h));
    if constexpr (checked) {
        tb_real before[k], around_before[2] = {0, 0};
        if (levels.before) {
            chunk.load_before(levels.before, before, around_before);
            TB_UNROLL
            for (int j = 0; j < k; j++) h.d[j] += before[j];
        }
        if (levels.largest) {
            trid_p_batch_equations<tb_real, k> given;
            tb_real around[2], rest[k];
            trid_p_batch_worst worst = {0, 0};
            chunk.around(h.d, around);
            if (is_first && chunk.index > 0 && chunk.in_batch()) around[0] = known[-levels.row] + around_before[0];
            if (is_last && chunk.valid > k) around[1] = known[2 * levels.row] + around_before[1];
            chunk.load_again(rows, d, given);
            trid_p_batch_defect(chunk.first, n, chunk.valid, given, h.d, around, rest, &worst);
            chunk.raise(levels.largest, worst);
        }
    }
    chunk.store(checked ? levels.keep : (tb_real *)0, h.d, x);
}

/* Reports on each system, one thread for each. Chunks have `rows` rows. In the reduced system, `whole` chunks with two
   rows each come first, and then single rows. */
template <class tb_real, int checked>
TRID_P_BATCH_BOUNDS(256)
TRID_KERNEL void trid_p_batch_told(trid_p_batch_levels<tb_real> levels, int rows, int whole)
{
    const trid_p_batch_plan &plan = levels.plan;
    const long long system = 256ll * blockIdx.x + threadIdx.x;
    if (system >= plan.lines.systems * plan.lines.groups) return;
    if (plan.repair && plan.report.status[system] == 0) return;
    int row = levels.worst[2 * system], left = levels.below ? levels.below[system] : 0, chunk = (left - 1) / 2;
    /* A failed chunk spoils its own two rows of the reduced system, and none above. */
    if (left > 0 && chunk < (row - 1) / rows)
        row = chunk < whole ? trid_p_batch_row(chunk * rows + (left % 2 ? 1 : rows), plan.n)
                            : whole * rows + (left - 2 * whole);
    if (row > plan.n) row = levels.worst[2 * system + 1];
    trid_p_batch_worst worst = {0, 0};
    if (checked) worst = {levels.largest[2 * system], levels.largest[2 * system + 1]};
    trid_p_batch_tell<checked, tb_real>(plan, system, row > plan.n ? (int)TRID_P_BATCH_NO_ROW : row, worst);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Reports, if the caller asked for it. */
template <int checked, class tb_real>
static int trid_p_batch_launch_told(const trid_p_batch_levels<tb_real> &levels, long long rows, long long whole,
                                    cudaStream_t stream)
{
    const long long systems = levels.plan.lines.systems * levels.plan.lines.groups;
    if (!trid_p_batch_reports(levels.plan)) return TRID_BATCH_OK;
    return trid_p_batch_start(trid_p_batch_told<tb_real, checked>, (systems + 255) / 256, 256, 0, stream, levels,
                              (int)rows, (int)whole);
}

/* Clears the record of bad rows, two ints a system from `at` on in scratch, if the caller asked for a report. */
static inline int trid_p_batch_clear_worst(const trid_p_batch_plan &plan, long long at, cudaStream_t stream,
                                           int **worst)
{
    const size_t bytes = (size_t)(8 * plan.lines.systems * plan.lines.groups);
    if (!trid_p_batch_reports(plan)) return TRID_BATCH_OK;
    *worst = (int *)((char *)plan.scratch + at);
    return trid_p_batch_launched(cudaMemsetAsync(*worst, TRID_P_BATCH_NO_ROW_BYTE, bytes, stream));
}

/* Makes the plan of the reduced systems, which are in scratch. Sets the fields of *levels that are the same in all
   passes; the caller has zeroed it. For a report, clears residuals and failures. */
template <class tb_real>
static int trid_p_batch_begin_level(const trid_p_batch_plan &plan, const trid_p_batch_level_layout &layout,
                                    const trid_p_batch_more<tb_real> &corners, trid_p_batch_levels<tb_real> *levels,
                                    trid_p_batch_work<tb_real> *work)
{
    const long long systems = plan.lines.systems * plan.lines.groups, n = layout.left;
    char *scratch = (char *)plan.scratch;
    tb_real *const first = (tb_real *)(scratch + layout.reduced), *const last = first + 3 * n * systems;
    trid_p_batch_plan *reduced = &work->plan;
    work->plan = trid_p_batch_plan(), work->d = work->x = last; /* solved in place */
    reduced->lines = trid_p_lines_are_interleaved(plan.lines) ? trid_lines_interleaved(n, systems)
                                                              : trid_lines_contiguous(n, systems);
    reduced->n = (int)n;
    reduced->flags = plan.flags & TRID_BATCH_PERIODIC;
    reduced->scratch = scratch + layout.end;
    levels->plan = plan;
    levels->chunks = (unsigned)layout.chunks;
    for (int k = 0; k < 4; k++) levels->reduced[k] = first + k * n * systems;
    levels->row = reduced->lines.step;
    levels->system = reduced->lines.stride;
    levels->top = corners.top, levels->bottom = corners.bottom;
    if (!trid_p_batch_reports(plan)) return TRID_BATCH_OK;
    levels->below = reduced->report.status = (int *)(scratch + layout.below);
    if (cudaMemsetAsync(scratch, 0, (size_t)(8 * systems), work->stream) != cudaSuccess)
        return TRID_BATCH_LAUNCH_FAILED;
    return trid_p_batch_clear_worst(plan, layout.worst, work->stream, &levels->worst);
}

/* Solves reduced systems on chip: periodic ones with the kernels of trid_batch_several, other contiguous ones with the
   kernel for the longest systems, whatever their n. */
template <int interleaved, int periodic, class bounds, class tb_real>
static int trid_p_batch_launch_reduced(const trid_p_batch_work<tb_real> &work, const trid_p_batch_arrays<tb_real> &rows,
                                       const trid_p_batch_more<tb_real> &corners)
{
    typedef trid_p_batch_bounds<TRID_BATCH_MAX_N, 1, bounds::only> any_n;
    typedef trid_p_batch_how how;
    constexpr int longest = 16384 / (int)sizeof(tb_real);
    const trid_p_batch_lu_rows<tb_real, 0, 1> both = {rows, corners};
    if constexpr (periodic)
        return trid_p_batch_launch_on_chip<how::several, any_n>(work, both);
    else if constexpr (interleaved)
        return trid_p_batch_launch_interleaved<how::reduced>(work, rows);
    else
        return trid_p_batch_launch_contiguous_shape<trid_p_batch_first_shape<tb_real>(how::hybrid, how::contiguous,
                                                                                      longest)>(work, rows);
}

/* Solves long systems: interleaved ones in clusters of blocks if these can hold them, unless they are periodic or
   checked; all others in chunks. The reduced systems of the chunks are solved on chip or, if long, in this way. */
template <int systems, int path, int method, class bounds, class tb_real, class rows_type>
static int trid_p_batch_launch_chunks(const trid_p_batch_work<tb_real> &work, const rows_type &rows,
                                      const trid_p_batch_more<tb_real> &corners)
{
    typedef trid_p_batch_how how;
    enum {
        checked = method == how::checked,
        periodic = method == how::periodic,
        interleaved = systems > 1,
        within = interleaved ? (int)how::strided : (int)how::contiguous, /* for reduced systems */
        kind = periodic ? how::periodic : how::hybrid,
        k = TRID_P_BATCH_CHUNK_ROWS,
        parts = TRID_P_BATCH_CHUNK_PARTS(interleaved)
    };
    typedef trid_p_batch_chunk<tb_real, k, systems, parts, path, 0> chunk_type;
    if constexpr (interleaved && !periodic && !checked) {
        enum { least = TRID_P_BATCH_ON_CHIP_INTERLEAVED + 1 };
        const int status = trid_p_batch_launch_interleaved<how::beyond, least>(work, rows);
        if (status != TRID_P_BATCH_NOT_LAUNCHED) return status;
    }
    trid_p_batch_plan plan = work.plan;
    if (!plan.scratch) return TRID_BATCH_BAD_SCRATCH;
    const int refined = checked && (plan.flags & TRID_BATCH_REFINED), reports = trid_p_batch_reports(plan);
    const long long all = plan.lines.systems * plan.lines.groups;
    const trid_p_batch_level_layout layout =
        trid_p_batch_level_layout_of(plan.n, all, (int)sizeof(tb_real), interleaved, periodic, refined);
    char *scratch = (char *)plan.scratch;
    unsigned blocks;
    if (trid_p_batch_count(&plan, systems, 1, &blocks) || plan.tiles > 0x7fffffffll / layout.chunks)
        return TRID_BATCH_BAD_SIZE;
    blocks = chunk_type::blocks(plan, (unsigned)layout.chunks);
    trid_p_batch_levels<tb_real> levels = {};
    trid_p_batch_work<tb_real> reduced = work;
    int status = trid_p_batch_begin_level(plan, layout, corners, &levels, &reduced);
    if (status) return status;
    const trid_lines &at = reduced.plan.lines;
    tb_real *const *of = levels.reduced;
    const trid_p_batch_arrays<tb_real> left = {of[0], of[1], of[2], at.step, at.stride, at.jump};
    const trid_p_batch_more<tb_real> ends = {1, 0, of[0], of[2] + (at.n - 1) * at.step, 0};
    const int is_long = at.n > (periodic ? TRID_P_BATCH_ON_CHIP_LU : trid_p_batch_on_chip(at, sizeof(tb_real), 0));
    for (int pass = 0; pass <= refined; pass++) {
        tb_real *first_x = (tb_real *)(scratch + layout.before);
        levels.before = pass > 0 ? first_x : (tb_real *)0;
        levels.keep = pass < refined ? first_x : (tb_real *)0;
        if (reports && checked && pass == refined) levels.largest = (unsigned *)scratch;
        status = trid_p_batch_start(trid_p_batch_long_reduce<tb_real, k, systems, parts, path, method, rows_type>,
                                    blocks, chunk_type::threads, 0, work.stream, levels, rows, work.d);
        if (!status)
            status = is_long ? trid_p_batch_launch_chunks<systems, within, kind, bounds>(reduced, left, ends)
                             : trid_p_batch_launch_reduced<interleaved, periodic, bounds>(reduced, left, ends);
        if (!status)
            status = trid_p_batch_start(trid_p_batch_long_expand<tb_real, k, systems, parts, path, method, rows_type>,
                                        blocks, chunk_type::threads, 0, work.stream, levels, rows, work.d, work.x);
        if (status) return status;
    }
    return trid_p_batch_launch_told<checked>(levels, layout.rows, periodic ? plan.n / layout.rows : layout.chunks,
                                             work.stream);
}
