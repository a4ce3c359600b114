/* test_gpus_march.cu - how bench/gpus_march.h watches, compares and measures a march over several GPUs;
   test_bs3d_gpus.cu tests the march itself.
   MIT licence, see LICENSE. */
#include "../bench/gpus_march.h"

#include "check.h"

#include <sys/wait.h>

static World world;
static int devices;

/* The rounding of a few steps, as a share of the largest value. */
static const double tolerance[2] = {1e-6, 1e-14};

/* The comparison must see a NaN among the numbers of a slab. It waits for no other rank, so no alarm limits its
   time. */
static void test_comparison(void)
{
    const int points[3] = {8, 8, 16};
    const double nan = NAN;
    for (int sick = 0; sick < 2; sick++) {
        Marching<Double> m = {};
        const bs3d_problem o = model_problem(0, points, 1);
        const bs3d_ranks_options options = {0, 1, 0, 0};
        bs3d_result result;
        open_world(&world, 2, devices, EXCHANGE_COPIES);
        open_march(&m, &world, &o, &options);
        march(&m, 1);
        done(bs3d_ranks_result(&m.march, &result));
        const bs3d_slab *cut = &m.slabs[1].cut;
        double *plane = m.slabs[1].job.u + m.slabs[1].job.plan.plane * cut->below;
        if (sick) check(cudaMemcpy(plane + 9, &nan, sizeof nan, cudaMemcpyHostToDevice));
        const double off = difference(&m, result.price);
        CHECK(alarm(0) == 0, "an alarm is set while the whole grid is marched");
        CHECK(sick ? isnan(off) : off <= tolerance[1], "differs by %g%s", off, sick ? ", of a NaN" : "");
        CHECK(isnan(difference(&m, NAN)), "of a price that is NaN");
        close_march(&m);
        close_world(&world);
    }
}

/* Fewer steps than laps are not timed by laps; all numbers of the row must be finite. */
static void test_few_steps(void)
{
    const int points[3] = {8, 8, 16};
    for (int steps = 1; steps <= 5; steps++) {
        const bs3d_problem o = model_problem(0, points, steps);
        const bs3d_ranks_options options = {0, 2, 0, 0};
        Row row;
        open_world(&world, 2, devices, EXCHANGE_COPIES);
        measured_march<Single>(&world, &o, &options, 1, 1, &row);
        close_world(&world);
        CHECK(isfinite(row.ms) && isfinite(row.bytes) && isfinite(row.ms_messages) && isfinite(row.ms_alone),
              "%d steps: %g ms, %g bytes, %g ms of messages, %g ms alone", steps, row.ms, row.bytes, row.ms_messages,
              row.ms_alone);
        CHECK(!row.unchecked && row.difference <= tolerance[0], "%d steps: differs by %g", steps, row.difference);
    }
}

/* With more planes than one march can have, the row must say that nothing was compared. */
static void test_unchecked(void)
{
    const int points[3] = {4, 4, 1028};
    const bs3d_problem o = model_problem(0, points, 1);
    const bs3d_ranks_options options = {0, 1, 0, 0};
    Row row;
    open_world(&world, 2, devices, EXCHANGE_COPIES);
    measured_march<Single>(&world, &o, &options, 0, 1, &row);
    close_world(&world);
    CHECK(row.unchecked && row.difference < 0, "1028 planes: compared with %g", row.difference);
}

/* Arrays hold MOST_RANKS; with more ranks the program must end and say why. */
static void test_ranks(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        open_world(&world, MOST_RANKS + 1, 1, EXCHANGE_COPIES);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1, "%d ranks: status %d",
          MOST_RANKS + 1, status);
}

/* A slab that sends no more messages must be noticed. */
static void test_lost(void)
{
    const int points[3] = {8, 8, 16};
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const bs3d_problem o = model_problem(1, points, 4);
        const bs3d_ranks_options options = {1, 0, 0, 0};
        Row row;
        lost.from = 2;
        open_world(&world, 2, 1, EXCHANGE_COPIES);
        measured_march<Double>(&world, &o, &options, 0, 0, &row);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %d", status);
}

int main(void)
{
    test_ranks(); /* before CUDA starts, since a child cannot share it */
    test_lost();
    check(cudaGetDeviceCount(&devices));
    signal(SIGALRM, on_alarm);
    timeout_seconds = 3000; /* the emulator is slow */
    test_comparison();
    test_few_steps();
    test_unchecked();
    return check_report();
}
