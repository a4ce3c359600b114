/* test_bs3d_gpus.cu - bs3d.h's marches on slabs (bs3d/ranks.h), with all ranks in one process, on a GPU or under
   tests/simt.
   MIT licence, see LICENSE.

   The reference is bs3d.h's march of the whole grid, which test_bs3d.cu compares with the host's. Under the emulator
   messages leave as early and arrive as late as they may; on a GPU they are copies. */
#ifdef SIMT_EMULATOR
/* The steps of an explicit sweep depend on the shared memory that a block can have, so it has much or little. */
static int emulated_shared = 227 * 1024;
static cudaError_t emulated_attribute(int *value, cudaDeviceAttr attribute, int device)
{
    const cudaError_t error = cudaDeviceGetAttribute(value, attribute, device);
    if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) *value = emulated_shared;
    return error;
}
#define cudaDeviceGetAttribute emulated_attribute
#endif

#include "bs3d.h"

#include "../examples/bs3d_exchange.h"

#include "check.h"

#include "bs3d_cases.h"

enum { SEED = 20261122 };

static int reaches[4]; /* how often an implicit march had this reach; [3]: 3 or more */

/* The rounding of a few steps, as a share of the largest value: sections begin elsewhere than in the whole march. */
static const double tolerance[2] = {1e-6, 1e-14};

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

static Exchange exchange;

#ifdef SIMT_EMULATOR
static std::vector<void *> sent; /* a copy of each message as it left */

static int early_end(void *)
{
    for (const Posted &out : exchange.posted) {
        void *copy;
        check(cudaMalloc(&copy, out.message.bytes));
        check(cudaMemcpy(copy, out.message.send, out.message.bytes, cudaMemcpyDeviceToDevice));
        sent.push_back(copy);
    }
    return 0;
}

static int late_arrive(void *)
{
    for (size_t n = 0; n < sent.size(); n++) {
        const Posted &out = exchange.posted[n], *in = other_side(&exchange, out);
        CHECK(in, "rank %d sends to rank %d, which does not listen", out.from->rank, out.peer);
        if (in) check(cudaMemcpy(in->message.receive, sent[n], out.message.bytes, cudaMemcpyDeviceToDevice));
        check(cudaFree(sent[n]));
    }
    sent.clear();
    return 0;
}
#endif

static void open_ranks(int ranks)
{
    int devices;
    check(cudaGetDeviceCount(&devices));
    CHECK(exchange_open(&exchange, ranks, devices, EXCHANGE_COPIES) == 0, "%d ranks", ranks);
#ifdef SIMT_EMULATOR
    exchange.ranks.exchange.end = early_end;
    exchange.ranks.exchange.arrive = late_arrive;
#endif
}

static void close_ranks(void)
{
    CHECK(exchange_close(&exchange) == 0, "close");
}

/* ---- marches ----------------------------------------------------------------------------------------------------- */

struct Single {
    typedef float Real;
    typedef bs3d_slab_march_f32 Slab;
    typedef bs3d_ranks_march_f32 March;
    enum { is_double = 0 };
    static size_t whole_bytes(const bs3d_problem *o) { return bs3d_work_bytes_f32(o); }
    static int whole(const bs3d_problem *o, int implicit, void *work, bs3d_result *result)
    {
        return implicit ? bs3d_implicit2_f32(o, work, result, 0) : bs3d_explicit4_f32(o, work, result, 0);
    }
};

struct Double {
    typedef double Real;
    typedef bs3d_slab_march_f64 Slab;
    typedef bs3d_ranks_march_f64 March;
    enum { is_double = 1 };
    static size_t whole_bytes(const bs3d_problem *o) { return bs3d_work_bytes_f64(o); }
    static int whole(const bs3d_problem *o, int implicit, void *work, bs3d_result *result)
    {
        return implicit ? bs3d_implicit2_f64(o, work, result, 0) : bs3d_explicit4_f64(o, work, result, 0);
    }
};

/* A march on all ranks, with its memory. */
template <class Kit>
struct Marching {
    typename Kit::March march;
    typename Kit::Slab slabs[MOST_RANKS];
    void *work[MOST_RANKS];
};

/* Returns the status. */
template <class Kit>
static int open_march(Marching<Kit> *m, const bs3d_problem *o, const bs3d_ranks_options *options)
{
    int status = bs3d_ranks_plan(&exchange.ranks, o, options, m->slabs, &m->march);
    for (int i = 0; i < exchange.ranks.count && !status; i++) {
        check(cudaSetDevice(exchange.local[i].device));
        check(cudaMalloc(m->work + i, bs3d_ranks_bytes(&m->march, i)));
    }
    return status ? status : bs3d_ranks_open(&m->march, m->work);
}

template <class Kit>
static void close_march(Marching<Kit> *m)
{
    for (int i = 0; i < exchange.ranks.count; i++) check(cudaFree(m->work[i]));
}

/* Synchronises the march streams; makes the first device the current one. */
static void wait_for_ranks(void)
{
    for (int i = exchange.ranks.count - 1; i >= 0; i--) {
        check(cudaSetDevice(exchange.local[i].device));
        check(cudaStreamSynchronize(exchange.local[i].march));
    }
}

/* The largest difference between the slabs' values and the whole grid's, as a share of the largest of the latter. NaN
   counts as larger than any number. */
template <class Kit>
static double difference(const Marching<Kit> *m, const typename Kit::Real *whole)
{
    double most[2] = {0, 0};
    for (int i = 0; i < exchange.ranks.count; i++) {
        const bs3d_slab *cut = &m->slabs[i].cut;
        const size_t plane = (size_t)m->slabs[i].job.plan.plane, count = plane * (size_t)cut->planes;
        std::vector<typename Kit::Real> got(count), want(count);
        const size_t bytes = count * sizeof got[0];
        check(cudaMemcpy(got.data(), m->slabs[i].job.u + plane * (size_t)cut->below, bytes, cudaMemcpyDeviceToHost));
        check(cudaMemcpy(want.data(), whole + plane * (size_t)cut->first, bytes, cudaMemcpyDeviceToHost));
        for (size_t n = 0; n < count; n++) {
            most[0] = trid_larger_f64(most[0], fabs((double)got[n] - (double)want[n]));
            most[1] = trid_larger_f64(most[1], fabs((double)want[n]));
        }
    }
    return most[0] / most[1];
}

template <class Kit>
static void compare(int ranks, const bs3d_problem *o, const bs3d_ranks_options *options, const char *note)
{
    static Marching<Kit> m;
    bs3d_result result = {}, whole_result;
    void *whole;
    open_ranks(ranks);
    int status = open_march(&m, o, options);
    while (!status && m.march.step < o->steps) status = bs3d_ranks_step(&m.march);
    if (!status) status = bs3d_ranks_result(&m.march, &result);
    CHECK(status == BS3D_OK, "%s: status %d", note, status);
    if (status) return;
    CHECK(m.march.step == o->steps && bs3d_ranks_step(&m.march) == BS3D_BAD_ARGUMENT, "%s: %d steps", note,
          m.march.step);
    wait_for_ranks();
    check(cudaMalloc(&whole, Kit::whole_bytes(o)));
    CHECK(Kit::whole(o, options->implicit, whole, &whole_result) == BS3D_OK, "%s: the whole grid", note);
    check(cudaStreamSynchronize(0));
    const double values = difference(&m, (const typename Kit::Real *)whole),
                 price = fabs(result.price - whole_result.price) / o->strike, off = trid_larger_f64(values, price);
    CHECK(off <= tolerance[Kit::is_double],
          "%s: %s, f%d, %dx%dx%d, %d steps, %d slabs, halo %d, %d partitions, in turn %d: differs by %g of the largest "
          "value",
          note, options->implicit ? "implicit" : "explicit", Kit::is_double ? 64 : 32, o->points[0], o->points[1],
          o->points[2], o->steps, ranks, options->halo, options->partitions, options->in_turn, off);
    check(cudaFree(whole));
    close_march(&m);
    close_ranks();
}

static void compare_both(int turn, int ranks, const bs3d_problem *o, const bs3d_ranks_options *options,
                         const char *note)
{
    if (turn % 2 || !check_short()) compare<Single>(ranks, o, options, note);
    if (turn % 2 == 0 || !check_short()) compare<Double>(ranks, o, options, note);
}

/* One slab and a few, with halo or partitions given, and left to the march. */
static void test_few(void)
{
    case_random random = {SEED + 7};
    for (int turn = 0; turn < 12; turn++) {
        const int implicit = turn % 2, ranks = 1 + turn / 2 % 3, chosen = turn < 6;
        const bs3d_problem o = case_problem_of(&random, implicit, 12, 9, 36, 5, BS3D_GEOMETRIC, turn / 4);
        bs3d_ranks_options options = {implicit, 0, 0, 0};
        if (chosen) (implicit ? options.partitions : options.halo) = implicit ? 2 : 1 + ranks;
        compare<Single>(ranks, &o, &options, "few");
        compare<Double>(ranks, &o, &options, "few");
    }
}

#ifdef SIMT_EMULATOR
/* The shared memory of compute capabilities 8.6 and 7.5: in double precision sweeps of two steps do not fit. */
static void test_little_memory(void)
{
    case_random random = {SEED + 10};
    for (int turn = 0; turn < 4; turn++) {
        const bs3d_problem o = case_problem_of(&random, turn % 2, 12, 9, 24, 5, BS3D_MAXIMUM, turn);
        const bs3d_ranks_options options = {turn % 2, 0, 0, 0};
        emulated_shared = (turn < 2 ? 99 : 64) * 1024;
        compare<Single>(2, &o, &options, "little shared memory");
        compare<Double>(2, &o, &options, "little shared memory");
    }
    emulated_shared = 227 * 1024;
}
#endif

/* Grids of 2 to 4 slabs, whose rows and lines take each kind of kernel. */
static void test_shapes(void)
{
    static const int shapes[][3] = {{20, 12, 17}, {9, 34, 13}, {130, 4, 16}, {33, 5, 24},
                                    {4, 260, 12}, {257, 4, 8}, {513, 4, 8},  {4, 514, 8}};
    case_random random = {SEED};
    int turn = 0;
    for (const int *n : shapes)
        for (int implicit = 0; implicit < 2; implicit++, turn++) {
            const int ranks = n[2] < 12 ? 2 : 2 + turn / 2 % 3, most = n[2] / ranks / 4;
            const int sections = 1 + turn / 2 % (most < 4 ? most : 4);
            const bs3d_problem o = case_problem_of(&random, implicit, n[0], n[1], n[2], implicit ? 2 : 5, 1 + turn % 5,
                                                   turn % CASE_CORRELATIONS);
            const bs3d_ranks_options options = {implicit, implicit ? 1 : 1 + turn / 2 % 4, sections, turn / 4 % 2};
            compare_both(turn / 2, ranks, &o, &options, "shapes");
        }
}

/* Halos of up to as many planes as a slab has, and sweeps of one and of two steps, which use them up or not. */
static void test_deep(void)
{
    case_random random = {SEED + 1};
    for (int deep = 1; deep <= 8; deep++) {
        const bs3d_problem o =
            case_problem_of(&random, 0, 12, 7, 24, 9 + deep % 2, BS3D_MAXIMUM, deep % CASE_CORRELATIONS);
        const bs3d_ranks_options options = {0, deep, 0, deep / 2 % 2};
        compare_both(deep / 2, 3, &o, &options, "deep");
    }
}

/* Each section's ends must arrive at their places in the reduced systems; their first numbers identify them. */
static void test_messages(void)
{
    enum { RANKS = 3, SECTIONS = 4 };
    case_random random = {SEED + 6};
    bs3d_problem o = case_problem_of(&random, 1, 8, 8, 48, 4, BS3D_MINIMUM, 0);
    for (int axis = 0; axis < 3; axis++) o.dividend[axis] = o.rate;
    for (o.maturity = 1e-12; o.maturity < 1e2; o.maturity *= 5) {
        const bs3d_ranks_options options = {1, 0, SECTIONS, 0};
        Marching<Double> m = {};
        open_ranks(RANKS);
        CHECK(open_march(&m, &o, &options) == BS3D_OK, "open");
        wait_for_ranks();
        for (int i = 0; i < RANKS; i++) {
            const bs3d_slab *cut = &m.slabs[i].cut;
            for (int s = 0; s < SECTIONS; s++)
                for (int last = 0; last < 2; last++) {
                    const double number = 100 * last + SECTIONS * i + s;
                    double *at =
                        m.slabs[i].job.interfaces + m.slabs[i].job.plan.plane * (cut->reduced * last + cut->own + s);
                    check(cudaMemcpy(at, &number, sizeof number, cudaMemcpyHostToDevice));
                }
        }
        CHECK(bs3d_ranks_send(&m.march) == BS3D_OK && bs3d_ranks_arrive(&m.march) == BS3D_OK, "the exchange");
        wait_for_ranks();
        for (int i = 0; i < RANKS; i++) {
            const bs3d_slab *cut = &m.slabs[i].cut;
            for (int e = 0; e < cut->reduced; e++)
                for (int last = 0; last < 2; last++) {
                    double number;
                    const int unseen = cut->reach && ((e == 0 && cut->below && !last) ||
                                                      (e == cut->reduced - 1 && cut->above && last));
                    const double *at =
                        m.slabs[i].job.interfaces + m.slabs[i].job.plan.plane * (cut->reduced * last + e);
                    check(cudaMemcpy(&number, at, sizeof number, cudaMemcpyDeviceToHost));
                    CHECK(number == (unseen ? 0 : 100 * last + SECTIONS * i - cut->own + e),
                          "reach %d: slab %d has %g of section %d of its reduced system of %d, last %d", cut->reach, i,
                          number, e, cut->reduced, last);
                }
        }
        reaches[m.slabs[0].cut.reach < 3 ? m.slabs[0].cut.reach : 3]++;
        close_march(&m);
        close_ranks();
    }
    CHECK(reaches[0] && reaches[1] && reaches[2] && reaches[3], "reaches all, 1, 2, more came %d, %d, %d, %d times",
          reaches[0], reaches[1], reaches[2], reaches[3]);
}

/* From short steps, where no slab depends on what lies beyond a section, to long ones, where all slabs depend on each
   other. */
static void test_reach(void)
{
    case_random random = {SEED + 2};
    static const double longer[] = {0.02, 0.15, 0.3, 3, 30};
    for (int turn = 0; turn < 10; turn++) {
        bs3d_problem o = case_problem_of(&random, 1, 6, 5, 48, 3, BS3D_MAXIMUM, turn % CASE_CORRELATIONS);
        for (int axis = 0; axis < 3; axis++) o.dividend[axis] = o.rate; /* dominant for steps of any length */
        o.volatility[2] = 0.2;
        o.top[2] = o.strike * 47 / 23.5; /* most happens between two slabs */
        o.maturity = 3 * longer[turn % 5] / (0.5 * 0.04 * 47 * 47);
        const bs3d_ranks_options options = {1, 1, 4 - turn / 5, turn % 2};
        compare<Single>(2 + turn / 5, &o, &options, "reach");
        compare<Double>(2 + turn / 5, &o, &options, "reach");
    }
}

/* Solves unknowns `from` .. `to` - 1 of the third axis' matrix with 1 for the unknown just beyond one end and 0 on the
   right, and returns the unknown at the other end. up: the unknown beyond is number `to`, not `from` - 1. */
static double seen_through(const bs3d_model *m, int from, int to, int up)
{
    double a, b, c, pivot = 1, right = 0, off = 0;
    for (int n = 0; n < to - from; n++) { /* away from the unknown beyond */
        bs1d_lane_matrix(bs3d_axis_of(m, 2), 1, up ? to - 1 - n : from + n, &a, &b, &c);
        const double towards = up ? c : a, away = up ? a : c, factor = n > 0 ? towards / pivot : 0;
        right = n > 0 ? -factor * right : -towards;
        pivot = b - factor * off;
        off = away;
    }
    return right / pivot;
}

static void test_coupling(void)
{
    case_random random = {SEED + 5};
    const bs3d_problem o = case_problem_of(&random, 1, 8, 8, 40, 4, BS3D_MINIMUM, 0);
    const bs3d_model m = bs3d_model_of(&o);
    for (int from = 1; from < 32; from += 6)
        for (int planes = 2; planes < 9; planes++) {
            const double last = fabs(seen_through(&m, from, from + planes, 0)),
                         first = fabs(seen_through(&m, from, from + planes - 1, 1)), want = fmax(last, first);
            check_near(bs3d_p_coupling(&m, from, from + planes) / want, 1, 1e-9, "planes %d .. %d", from,
                       from + planes - 1);
        }
}

/* Early exercise and upwind differences. */
static void test_flags(void)
{
    case_random random = {SEED + 3};
    for (int turn = 0; turn < 4; turn++) {
        const int implicit = turn % 2;
        bs3d_problem o = case_problem_of(&random, implicit, 12, 9, 26, 4, BS3D_MINIMUM, turn);
        o.flags = BS3D_PUT | (turn < 2 ? BS3D_AMERICAN : BS3D_UPWIND);
        while (bs3d_check(&o, implicit) == BS3D_UNSTABLE) o.maturity *= 0.9;
        const bs3d_ranks_options options = {implicit, implicit ? 1 : 3, 2, 0};
        compare_both(turn / 2, 3, &o, &options, "flags");
    }
}

/* Grids that cannot be cut are refused. */
static void test_cut(void)
{
    case_random random = {SEED + 4};
    bs3d_problem o = case_problem_of(&random, 1, 8, 8, 64, 4, BS3D_MINIMUM, 0);
    bs3d_slab cut;
    CHECK(bs3d_slab_cut(&o, 1, 1, 4, 0, 1, 4, &cut) == BS3D_OK, "64 planes in 4 slabs of 4 sections");
    CHECK(cut.first == 0 && cut.planes == 16 && cut.below == 0 && cut.above == 1, "the first slab");
    CHECK(bs3d_slab_cut(&o, 1, 1, 4, 3, 1, 4, &cut) == BS3D_OK && cut.first == 48 && cut.below == 1 && !cut.above,
          "the last slab");
    CHECK(bs3d_slab_cut(&o, 1, 1, 4, 4, 1, 4, &cut) == BS3D_BAD_ARGUMENT, "slab 4 of 4");
    CHECK(bs3d_slab_cut(&o, 1, 1, 4, -1, 1, 4, &cut) == BS3D_BAD_ARGUMENT, "slab -1 of 4");
    CHECK(bs3d_slab_cut(&o, 1, 1, 4, 0, 1, 4, NULL) == BS3D_BAD_ARGUMENT, "null");
    CHECK(bs3d_slab_cut(&o, 1, 1, 5, 0, 1, 4, &cut) == BS3D_BAD_SIZE, "12 planes in 4 sections");
    CHECK(bs3d_slab_cut(&o, 1, 1, 17, 0, 1, 1, &cut) == BS3D_BAD_SIZE, "slabs of 3 planes");
    CHECK(bs3d_slab_cut(&o, 1, 1, 0, 0, 1, 1, &cut) == BS3D_BAD_SIZE, "no slabs");
    CHECK(bs3d_slab_cut(&o, 1, 1, 2, 0, 1, 9, &cut) == BS3D_BAD_SIZE, "9 sections");
    o.points[2] = 2 * 1024 + 1;
    CHECK(bs3d_slab_cut(&o, 1, 1, 2, 0, 1, 4, &cut) == BS3D_BAD_SIZE, "more than 1024 planes");
    o.payoff = BS3D_GIVEN;
    o.points[2] = 64;
    CHECK(bs3d_slab_cut(&o, 1, 1, 2, 0, 1, 4, &cut) == BS3D_BAD_ARGUMENT, "given values");
    o = case_problem_of(&random, 0, 8, 8, 64, 4, BS3D_MINIMUM, 0);
    CHECK(bs3d_slab_cut(&o, 0, 1, 8, 3, 8, 0, &cut) == BS3D_OK && cut.below == 8 && cut.above == 8, "all planes sent");
    CHECK(bs3d_slab_cut(&o, 0, 1, 8, 3, 9, 0, &cut) == BS3D_BAD_SIZE, "more planes than there are");
    CHECK(bs3d_slab_cut(&o, 0, 1, 8, 3, 0, 0, &cut) == BS3D_BAD_SIZE, "none");
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static int told; /* what a function of the exchange returns */

static int tell(void *)
{
    return told;
}

static int tell_message(void *, const bs3d_rank *, int, int, const bs3d_message *)
{
    return told;
}

static void test_plan(void)
{
    static Marching<Double> m;
    case_random random = {SEED + 8};
    bs3d_problem o = case_problem_of(&random, 1, 8, 8, 40, 4, BS3D_MINIMUM, 0);
    const bs3d_problem e = case_problem_of(&random, 0, 8, 8, 40, 4, BS3D_MINIMUM, 0);
    const bs3d_ranks_options options = {1, 0, 0, 0};
    const bs3d_ranks_options thick = {0, 21, 0, 0}, many = {1, 0, 9, 0};
    open_ranks(2);
    bs3d_ranks ranks = exchange.ranks;
    CHECK(bs3d_ranks_plan(&ranks, &o, &options, m.slabs, &m.march) == BS3D_OK, "a plan");
    CHECK(bs3d_ranks_bytes(&m.march, 1) == bs3d_slab_bytes_f64(&o, &m.slabs[1].cut), "bytes");
    CHECK(bs3d_ranks_plan_f64(NULL, &o, &options, m.slabs, &m.march) == BS3D_BAD_ARGUMENT, "null ranks");
    CHECK(bs3d_ranks_plan_f64(&ranks, NULL, &options, m.slabs, &m.march) == BS3D_BAD_ARGUMENT, "null problem");
    CHECK(bs3d_ranks_plan_f64(&ranks, &o, NULL, m.slabs, &m.march) == BS3D_BAD_ARGUMENT, "null options");
    CHECK(bs3d_ranks_plan_f64(&ranks, &o, &options, NULL, &m.march) == BS3D_BAD_ARGUMENT, "null slabs");
    CHECK(bs3d_ranks_plan_f64(&ranks, &o, &options, m.slabs, NULL) == BS3D_BAD_ARGUMENT, "null march");
    CHECK(bs3d_ranks_open_f64(NULL, m.work) == BS3D_BAD_ARGUMENT, "nothing to open");
    CHECK(bs3d_ranks_open(&m.march, NULL) == BS3D_BAD_ARGUMENT, "no memory");
    CHECK(bs3d_ranks_plan(&ranks, &e, &thick, m.slabs, &m.march) == BS3D_BAD_SIZE, "halos thicker than slabs");
    CHECK(bs3d_ranks_plan(&ranks, &o, &many, m.slabs, &m.march) == BS3D_BAD_SIZE, "9 partitions");
    o.payoff = BS3D_GIVEN;
    CHECK(bs3d_ranks_plan(&ranks, &o, &options, m.slabs, &m.march) == BS3D_BAD_ARGUMENT, "given values");
    o.payoff = BS3D_MINIMUM;
    ranks.exchange.message = NULL;
    CHECK(bs3d_ranks_plan(&ranks, &o, &options, m.slabs, &m.march) == BS3D_BAD_ARGUMENT, "no way to send");
    ranks = exchange.ranks;
    ranks.count = 3;
    CHECK(bs3d_ranks_plan(&ranks, &o, &options, m.slabs, &m.march) == BS3D_BAD_ARGUMENT, "3 of 2 ranks");
    ranks.count = 1;
    CHECK(bs3d_ranks_plan(&ranks, &o, &options, m.slabs, &m.march) == BS3D_BAD_ARGUMENT, "another process, no sum");
    close_ranks();
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

enum { PROCESSES = 3 }; /* of one rank each */

static double totals[100];
static int gathering, sums; /* whether sum_in_turn still adds to the totals; how often it was called */

/* The sum of processes that call one after another, each of them twice: first all add, then all receive the totals. */
static int sum_in_turn(void *, double *numbers, int count)
{
    sums++;
    for (int n = 0; n < count; n++)
        if (gathering)
            totals[n] += numbers[n];
        else
            numbers[n] = totals[n];
    return 0;
}

/* Calls of(n) as process n, for each n, and checks that no process misses the sum, for which the others would wait, and
   that process n returns want[n]. */
template <class call>
static void as_processes(const int *want, const char *note, const call &of)
{
    memset(totals, 0, sizeof totals);
    for (gathering = 1; gathering >= 0; gathering--)
        for (int n = 0; n < PROCESSES; n++) {
            sums = 0;
            const int status = of(n);
            CHECK(sums == 1, "%s: process %d calls the sum %d times", note, n, sums);
            CHECK(gathering || status == want[n], "%s: process %d returns %d, not %d", note, n, status, want[n]);
        }
}

static bs3d_ranks process[PROCESSES];
static Marching<Double> part[PROCESSES];

static void open_processes(void)
{
    open_ranks(PROCESSES);
    for (int n = 0; n < PROCESSES; n++)
        process[n] = {PROCESSES, 1, exchange.local + n, {NULL, NULL, tell_message, NULL, NULL, sum_in_turn}};
}

/* Each process must return an error unless all slabs have the same number of partitions. Here options.partitions makes
   them differ, as GPUs of different kinds would. */
static void test_partitions(void)
{
    static const int cuts[][PROCESSES] = {{4, 4, 4}, {0, 0, 0}, {3, 4, 5}, {5, 3, 4}, {4, 4, 5}, {4, 3, 3}, {4, 9, 4}};
    static const int ok[] = {BS3D_OK, BS3D_OK, BS3D_OK}, bad[] = {BS3D_BAD_SIZE, BS3D_BAD_SIZE, BS3D_BAD_SIZE};
    case_random random = {SEED + 10};
    const bs3d_problem o = case_problem_of(&random, 1, 8, 8, 60, 4, BS3D_MINIMUM, 0);
    open_processes();
    for (const int *cut : cuts)
        as_processes(cut[0] == cut[1] && cut[1] == cut[2] ? ok : bad, "partitions", [&](int n) {
            const bs3d_ranks_options options = {1, 0, cut[n], 0};
            return bs3d_ranks_plan(process + n, &o, &options, part[n].slabs, &part[n].march);
        });
    close_ranks();
}

/* A process with a bad argument must tell the others. */
static void test_bad_process(void)
{
    static const int want[] = {BS3D_BAD_SIZE, BS3D_BAD_ARGUMENT, BS3D_BAD_SIZE};
    case_random random = {SEED + 11};
    const bs3d_problem o = case_problem_of(&random, 1, 8, 8, 60, 4, BS3D_MINIMUM, 0);
    const bs3d_ranks_options options = {1, 0, 4, 0};
    open_processes();
    for (int bad = 0; bad < 8; bad++) {
        const bs3d_ranks good = process[1];
        if (bad == 4) process[1].local = NULL;
        if (bad == 5) process[1].count = 0;
        if (bad == 6) process[1].count = PROCESSES + 1;
        if (bad == 7) process[1].exchange.message = NULL;
        as_processes(want, "a bad argument", [&](int n) {
            const int null = n == 1 ? bad : -1;
            return bs3d_ranks_plan(process + n, null == 0 ? NULL : &o, null == 1 ? NULL : &options,
                                   null == 2 ? NULL : part[n].slabs, null == 3 ? NULL : &part[n].march);
        });
        process[1] = good;
    }
    close_ranks();
}

/* A process that cannot compute its values must tell the others. */
static void test_failed_result(void)
{
    static const int ok[] = {BS3D_OK, BS3D_OK, BS3D_OK},
                     failed[] = {BS3D_LAUNCH_FAILED, BS3D_LAUNCH_FAILED, BS3D_LAUNCH_FAILED};
    case_random random = {SEED + 12};
    const bs3d_problem o = case_problem_of(&random, 1, 8, 8, 60, 4, BS3D_MINIMUM, 0);
    const bs3d_ranks_options options = {1, 0, 4, 0};
    bs3d_result result[PROCESSES] = {};
    open_processes();
    as_processes(ok, "plan",
                 [&](int n) { return bs3d_ranks_plan(process + n, &o, &options, part[n].slabs, &part[n].march); });
    for (int n = 0; n < PROCESSES; n++) {
        check(cudaSetDevice(exchange.local[n].device));
        check(cudaMalloc(part[n].work, bs3d_ranks_bytes(&part[n].march, 0)));
        CHECK(bs3d_ranks_open(&part[n].march, part[n].work) == BS3D_OK, "open");
    }
    const auto of = [&](int n) { return bs3d_ranks_result(&part[n].march, result + n); };
    as_processes(ok, "a result", of);
    CHECK(result[0].price == result[1].price && result[1].price == result[2].price, "prices %g, %g, %g",
          result[0].price, result[1].price, result[2].price);
    const int device = exchange.local[1].device;
    exchange.local[1].device = 1 << 20;
    as_processes(failed, "no device", of);
    cudaGetLastError();
    exchange.local[1].device = device;
    for (Marching<Double> &m : part) check(cudaFree(m.work[0]));
    close_ranks();
}

/* ---- what the exchange returns ----------------------------------------------------------------------------------- */

/* The march must return what a function of the exchange returns. */
static void test_status(void)
{
    static Marching<Single> m;
    case_random random = {SEED + 9};
    const bs3d_problem o = case_problem_of(&random, 1, 8, 8, 32, 4, BS3D_MINIMUM, 0);
    const bs3d_ranks_options options = {1, 0, 0, 0};
    open_ranks(2);
    const bs3d_exchange whole = exchange.ranks.exchange;
    told = 0;
    for (int which = 0; which < 4; which++) {
        bs3d_exchange *by = &exchange.ranks.exchange;
        *by = {NULL, NULL, tell_message, NULL, NULL, NULL};
        CHECK(open_march(&m, &o, &options) == BS3D_OK, "open");
        CHECK(bs3d_ranks_step(&m.march) == BS3D_OK && m.march.exchanges == 1, "a step that sends nothing");
        if (which) by->message = whole.message, by->context = &exchange;
        (which == 1 ? by->begin : which == 2 ? by->end : by->arrive) = which ? tell : NULL;
        told = 77;
        CHECK(bs3d_ranks_step(&m.march) == 77, "what function %d of the exchange returns", which);
        told = 0;
        by->sum = [](void *, double *, int) { return 78; };
        bs3d_result result;
        CHECK(bs3d_ranks_result(&m.march, &result) == 78, "what the sum returns");
        close_march(&m);
    }
    exchange.ranks.exchange = whole;
    close_ranks();
}

/* More than MOST_RANKS ranks, and an exchange that the program does not have, are refused. */
static void test_exchange(void)
{
    CHECK(exchange_open(&exchange, MOST_RANKS + 1, 1, EXCHANGE_COPIES) == TOO_MANY_RANKS, "%d ranks", MOST_RANKS + 1);
    CHECK(exchange_open(&exchange, 2, 0, EXCHANGE_COPIES) == TOO_MANY_RANKS, "no GPU");
    CHECK(exchange_open(&exchange, 2, 1, EXCHANGE_MPI) == BS3D_BAD_ARGUMENT, "MPI without it");
    CHECK(!strcmp(exchange_string(CUDA_STATUS + (int)cudaErrorInvalidValue), "invalid argument"), "a text of CUDA's");
    CHECK(!strcmp(exchange_string(BS3D_BAD_SPOT), bs3d_status_string(BS3D_BAD_SPOT)), "a text of bs3d.h's");
}

int main(void)
{
    printf("seed %d\n", SEED);
#ifdef SIMT_EMULATOR
    simt_permute(SEED);
#endif
    test_exchange();
    test_cut();
    test_coupling();
    test_plan();
    test_partitions();
    test_bad_process();
    test_failed_result();
    test_status();
    test_messages();
    test_few();
#ifdef SIMT_EMULATOR
    test_little_memory();
#endif
    test_shapes();
    test_deep();
    test_reach();
    test_flags();
    if (check_short()) check_skip(1, "each march in the other precision too: SHORT_TESTS is set");
    return check_report();
}
