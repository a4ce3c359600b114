/* test_bs3d_gpus.cu - bs3d.h's marches on slabs, as examples/bs3d_gpus.cu plays them with all ranks in one process, on
   a GPU or under tests/simt.
   MIT licence, see LICENSE.

   The reference is bs3d.h's march of the whole grid, which test_bs3d.cu has held against the host's. Under the emulator
   messages leave as early as they may, and arrive as late. */
#define BS3D_GPUS_NO_MAIN
#include "../examples/bs3d_gpus.cu"

#include "check.h"

#include "bs3d_cases.h"

#include <sys/wait.h>

enum { SEED = 20261122 };

static int reaches[4]; /* how often an implicit march had this reach; 3: or more */

/* As much of the largest value as rounding may make of a few steps: the sections are cut elsewhere. */
static const double tolerance[2] = {1e-6, 1e-14};

template <class Kit>
static void compare(int ranks, const bs3d_problem *o, const Options *options, const char *note)
{
    Row row;
    make_world(&world, ranks, devices, 0);
    exchange_open(&world);
    measured_march<Kit>(&world, o, options, 0, 1, &row);
    exchange_close(&world);
    CHECK(row.difference >= 0 && row.difference <= tolerance[Kit::is_double],
          "%s: %s, %s, %dx%dx%d, %d steps, %d slabs, deep %d, %d sections, in turn %d: differs by %g of the largest "
          "value",
          note, row.engine, row.precision, o->points[0], o->points[1], o->points[2], o->steps, ranks, options->deep,
          options->sections, options->in_turn, row.difference);
}

static void compare_both(int turn, int ranks, const bs3d_problem *o, const Options *options, const char *note)
{
    if (turn % 2 || !check_short()) compare<Single>(ranks, o, options, note);
    if (turn % 2 == 0 || !check_short()) compare<Double>(ranks, o, options, note);
}

/* Grids whose rows and lines have each kind of kernel; of 2 to 4 slabs. */
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
            const Options options = {implicit, implicit ? 1 : 1 + turn / 2 % 4, turn / 4 % 2, sections, 0, 0};
            compare_both(turn / 2, ranks, &o, &options, "shapes");
        }
}

/* Copies of as many planes as a slab has, and sweeps of one and of two steps that do and do not use them up. */
static void test_deep(void)
{
    case_random random = {SEED + 1};
    for (int deep = 1; deep <= 8; deep++) {
        const bs3d_problem o =
            case_problem_of(&random, 0, 12, 7, 24, 9 + deep % 2, BS3D_MAXIMUM, deep % CASE_CORRELATIONS);
        const Options options = {0, deep, deep / 2 % 2, 0, 0, 0};
        compare_both(deep / 2, 3, &o, &options, "deep");
    }
}

/* Each section's ends arrive where the reduced systems have them: told by their first numbers. */
static void test_messages(void)
{
    enum { RANKS = 3, SECTIONS = 4 };
    case_random random = {SEED + 6};
    bs3d_problem o = case_problem_of(&random, 1, 8, 8, 48, 4, BS3D_MINIMUM, 0);
    for (int axis = 0; axis < 3; axis++) o.dividend[axis] = o.rate;
    for (o.maturity = 1e-12; o.maturity < 1e2; o.maturity *= 5) {
        Marching<Double> m = {};
        m.world = &world;
        m.problem = o;
        m.options.implicit = m.options.deep = 1;
        m.options.sections = SECTIONS;
        make_world(&world, RANKS, devices, 0);
        exchange_open(&world);
        open_march(&m);
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
        exchange(&m);
        exchange_arrive(&world);
        for (int i = 0; i < RANKS; i++) {
            const bs3d_slab *cut = &m.slabs[i].cut;
            check(cudaStreamSynchronize(world.local[i].march));
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
        exchange_close(&world);
    }
    CHECK(reaches[0] && reaches[1] && reaches[2] && reaches[3], "reaches all, 1, 2, more came %d, %d, %d, %d times",
          reaches[0], reaches[1], reaches[2], reaches[3]);
}

/* From short steps, where a section is seen through by nobody, to long ones, where all slabs depend on each other. */
static void test_reach(void)
{
    case_random random = {SEED + 2};
    static const double longer[] = {0.02, 0.15, 0.3, 3, 30};
    for (int turn = 0; turn < 10; turn++) {
        bs3d_problem o = case_problem_of(&random, 1, 6, 5, 48, 3, BS3D_MAXIMUM, turn % CASE_CORRELATIONS);
        for (int axis = 0; axis < 3; axis++) o.dividend[axis] = o.rate; /* dominant, however long the steps */
        o.volatility[2] = 0.2;
        o.top[2] = o.strike * 47 / 23.5; /* most happens between two slabs */
        o.maturity = 3 * longer[turn % 5] / (0.5 * 0.04 * 47 * 47);
        const Options options = {1, 1, turn % 2, 4 - turn / 5, 0, 0};
        compare<Single>(2 + turn / 5, &o, &options, "reach");
        compare<Double>(2 + turn / 5, &o, &options, "reach");
    }
}

/* What unknowns from .. to-1 of the third axis' matrix are, at one end, if the one beyond the other end is 1: by
   elimination towards it. up: the one beyond is number to. */
static double seen_through(const bs3d_model *m, int from, int to, int up)
{
    double a, b, c, pivot = 1, right = 0, off = 0;
    for (int n = 0; n < to - from; n++) { /* from the row that has the unknown beyond to the other end */
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

/* Exercise, and upwind differences. */
static void test_flags(void)
{
    case_random random = {SEED + 3};
    for (int turn = 0; turn < 4; turn++) {
        const int implicit = turn % 2;
        bs3d_problem o = case_problem_of(&random, implicit, 12, 9, 26, 4, BS3D_MINIMUM, turn);
        o.flags = BS3D_PUT | (turn < 2 ? BS3D_AMERICAN : BS3D_UPWIND);
        while (bs3d_check(&o, implicit) == BS3D_UNSTABLE) o.maturity *= 0.9;
        const Options options = {implicit, implicit ? 1 : 3, 0, 2, 0, 0};
        compare_both(turn / 2, 3, &o, &options, "flags");
    }
}

/* What cannot be cut is refused. */
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

/* A NaN in a slab, between numbers, is seen; and the comparison, which waits for nobody, has all the time it takes. */
static void test_comparison(void)
{
    const int points[3] = {8, 8, 16};
    const double nan = NAN;
    for (int sick = 0; sick < 2; sick++) {
        Marching<Double> m = {};
        m.world = &world;
        m.problem = model_problem(0, points, 1);
        m.options.deep = m.total = 1;
        make_world(&world, 2, devices, 0);
        exchange_open(&world);
        open_march(&m);
        march(&m, 1);
        const double price = result_of(&m).price;
        const bs3d_slab *cut = &m.slabs[1].cut;
        double *plane = m.slabs[1].job.u + m.slabs[1].job.plan.plane * cut->below;
        if (sick) check(cudaMemcpy(plane + 9, &nan, sizeof nan, cudaMemcpyHostToDevice));
        const double off = difference(&m, price);
        CHECK(alarm(0) == 0, "an alarm is set while the whole grid is marched");
        CHECK(sick ? isnan(off) : off <= tolerance[1], "differs by %g%s", off, sick ? ", of a NaN" : "");
        CHECK(isnan(difference(&m, NAN)), "of a price that is NaN");
        close_march(&m);
        exchange_close(&world);
    }
}

/* Fewer steps than laps are not timed by laps; numbers are known, or said to be unknown. */
static void test_few_steps(void)
{
    const int points[3] = {8, 8, 16};
    for (int steps = 1; steps <= 5; steps++) {
        const bs3d_problem o = model_problem(0, points, steps);
        const Options options = {0, 2, 0, 0, 0, 0};
        Row row;
        make_world(&world, 2, devices, 0);
        exchange_open(&world);
        measured_march<Single>(&world, &o, &options, 1, 1, &row);
        exchange_close(&world);
        CHECK(isfinite(row.ms) && isfinite(row.bytes) && isfinite(row.ms_messages) && isfinite(row.ms_alone),
              "%d steps: %g ms, %g bytes, %g ms of messages, %g ms alone", steps, row.ms, row.bytes, row.ms_messages,
              row.ms_alone);
        CHECK(!row.unchecked && row.difference <= tolerance[0], "%d steps: differs by %g", steps, row.difference);
    }
}

/* More planes than one march can have: the row says that nothing was compared. */
static void test_unchecked(void)
{
    const int points[3] = {4, 4, 1028};
    const bs3d_problem o = model_problem(0, points, 1);
    const Options options = {0, 1, 0, 0, 0, 0};
    Row row;
    make_world(&world, 2, devices, 0);
    exchange_open(&world);
    measured_march<Single>(&world, &o, &options, 0, 1, &row);
    exchange_close(&world);
    CHECK(row.unchecked && row.difference < 0, "1028 planes: compared with %g", row.difference);
}

/* The arrays are for MOST_RANKS; with more the program ends, and says why. */
static void test_ranks(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        make_world(&world, MOST_RANKS + 1, devices, 0);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1, "%d ranks: status %d",
          MOST_RANKS + 1, status);
}

int main(void)
{
    printf("seed %d\n", SEED);
#ifdef SIMT_EMULATOR
    simt_permute(SEED);
#endif
    check(cudaGetDeviceCount(&devices));
    signal(SIGALRM, on_alarm);
    timeout_seconds = 3000; /* the emulator's */
    test_ranks();
    test_cut();
    test_coupling();
    test_messages();
    test_shapes();
    test_deep();
    test_reach();
    test_flags();
    test_comparison();
    test_few_steps();
    test_unchecked();
    if (check_short()) check_skip(1, "each march in the other precision too: SHORT_TESTS is set");
    return check_report();
}
