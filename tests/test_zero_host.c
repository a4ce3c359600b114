/* test_zero_host.c - zeroed structs through every solver: a correct answer or a refusal, as docs/zero.md says.
   MIT licence, see LICENSE. */
#define CPU_AVX_ONLY_PLAIN /* zero is the same in all sets */
#include "../pde/adi2d.h"
#include "../pde/adi3d.h"
#include "../bs3d.h"
#include "../cpu_avx.h"
#include "../trid/batch.h"
#include "check.h"

#include "../examples/cev_model.h"
#include "../examples/heston_model.h"
#include "adi3d_assets.h"

static void of_fd(void)
{
    fd_axis axis;
    fd_times times;
    double x[8];
    fd_step step[8];
    int count = 0;
    memset(&axis, 0, sizeof axis), memset(&times, 0, sizeof times);
    CHECK(fd_axis_points(&axis, x) == FD_BAD_SIZE, "an axis");
    axis.points = 5;
    CHECK(fd_axis_points(&axis, x) == FD_BAD_NUMBER, "an axis of no length");
    axis.high = 4;
    CHECK(fd_axis_points(&axis, x) == FD_OK && x[1] == 1 && x[3] == 3, "a uniform axis");
    CHECK(fd_schedule(&times, 8, step, &count) == FD_BAD_STEPS, "times");
    times.steps = 2;
    CHECK(fd_schedule(&times, 8, step, &count) == FD_BAD_NUMBER, "times without maturity");
    times.maturity = 1;
    CHECK(fd_schedule(&times, 8, step, &count) == FD_OK && count == 2, "times");
    CHECK(step[0].kind == FD_THETA && step[0].theta == 0.5 && step[0].to == 0.5, "a step: theta %g", step[0].theta);
    CHECK(FD_THETA == 0 && FD_EQUAL == 0 && FD_LINEAR == 0 && FD_EUROPEAN == 0 && FD_DOUGLAS == 0 &&
              FD_AT_POINTS == 0 && FD_BOTH_ENDS == 0 && FD_CENTRAL == 0 && FD_ANYWHERE == 0 && ADI2D_TWO_STAGES == 0,
          "an enumeration does not begin with its plain choice");
}

/* Solves a CEV call with only an axis, maturity and steps filled in. */
static void of_one_factor(void)
{
    const cev_parameters p = {0.05, 2, 0.5, 100, 0};
    const fd_axis axis = {0, 300, 101, 0, {0}, {0}, {0}};
    const double spot = 100;
    fd_problem problem;
    fd_values values;
    fd_status status;
    fd_batch batch;
    memset(&problem, 0, sizeof problem), memset(&batch, 0, sizeof batch), memset(&values, 0, sizeof values);
    CHECK(fd_batch_check(1, &batch) == FD_BAD_SIZE && cev_host_bytes_f64(&batch, 1) == 0, "a batch");
    batch.points[0] = 101;
    CHECK(cev_host_f64(&batch, &p, 1, NULL, 0) == FD_BAD_SIZE, "a batch without steps");
    batch.steps = 20;
    CHECK(cev_host_f64(&batch, &p, 1, NULL, 0) == FD_OK, "a batch of none");
    batch.problems = 1;
    CHECK(cev_host_f64(&batch, &p, 1, &values, sizeof values) == FD_BAD_ARGUMENT, "a batch without problems");
    batch.problem = &problem, batch.status = &status;
    batch.spots = 1; /* the spot is set below */
    const size_t bytes = cev_host_bytes_f64(&batch, 1);
    void *memory = malloc(bytes);
    batch.spots = 0;
    CHECK(cev_host_f64(&batch, &p, 1, memory, bytes) == FD_OK && status.what == FD_BAD_SIZE, "a problem");
    problem.axis[0] = axis;
    CHECK(cev_host_f64(&batch, &p, 1, memory, bytes) == FD_OK && status.what == FD_BAD_TIMES &&
              status.detail == FD_BAD_STEPS,
          "a problem without times: %d", status.what);
    problem.times.maturity = 1, problem.times.steps = 20;
    CHECK(cev_host_f64(&batch, &p, 1, memory, bytes) == FD_OK && !status.what, "a problem: %d", status.what);
    batch.spots = 1, batch.values = &values;
    CHECK(cev_host_f64(&batch, &p, 1, memory, bytes) == FD_OK && status.what == FD_BAD_ARGUMENT && isnan(values.value),
          "a spot that is nowhere: %d", status.what);
    problem.spot = &spot;
    CHECK(cev_host_f64(&batch, &p, 1, memory, bytes) == FD_OK && !status.what, "a problem: %d", status.what);
    check_near(values.value, 10.45, 0.1, "a problem's value");
    free(memory);
}

/* Compares a Heston call with only axes, maturity, steps and spot filled in with the same call with fd_scheme_theta. */
static void of_two_factors(void)
{
    const heston_parameters p = {100, 1.5, 0.04, 0.3, -0.5, 0.025, 0, 0};
    const fd_axis axis[2] = {{0, 300, 31, 0, {0}, {0}, {0}}, {0, 0.5, 16, 0, {0}, {0}, {0}}};
    const double spot[2] = {100, 0.04};
    fd_problem problem[2];
    fd_values values[2];
    fd_status status[2];
    fd_batch batch;
    memset(problem, 0, sizeof problem), memset(&batch, 0, sizeof batch);
    CHECK(heston_host_f64(&batch, &p, 1, NULL, 0) == FD_BAD_SIZE, "a batch");
    batch.points[0] = 31, batch.points[1] = 16;
    CHECK(heston_host_f64(&batch, &p, 1, NULL, 0) == FD_BAD_SIZE, "a batch without steps");
    batch.steps = 10;
    CHECK(heston_host_f64(&batch, &p, 1, NULL, 0) == FD_OK, "a batch of none");
    batch.problems = 2;
    CHECK(heston_host_f64(&batch, &p, 1, values, sizeof values) == FD_BAD_ARGUMENT, "a batch without problems");
    batch.problem = problem, batch.status = status, batch.values = values, batch.spots = 1;
    const size_t bytes = heston_host_bytes_f64(&batch, 1);
    const heston_parameters both[2] = {p, p};
    void *memory = malloc(bytes);
    CHECK(heston_host_f64(&batch, both, 1, memory, bytes) == FD_OK && status[0].what == FD_BAD_SIZE, "a problem: %d",
          status[0].what);
    CHECK(isnan(values[0].value), "a problem's value");
    for (int k = 0; k < 2; k++) problem[k].axis[0] = axis[0], problem[k].axis[1] = axis[1];
    CHECK(heston_host_f64(&batch, both, 1, memory, bytes) == FD_OK && status[0].what == FD_BAD_ARGUMENT,
          "a problem without a spot: %d", status[0].what);
    problem[0].spot = problem[1].spot = spot;
    CHECK(heston_host_f64(&batch, both, 1, memory, bytes) == FD_OK && status[0].what == FD_BAD_TIMES &&
              status[0].detail == FD_BAD_STEPS,
          "a problem without times: %d", status[0].what);
    for (int k = 0; k < 2; k++) problem[k].times.maturity = 1, problem[k].times.steps = 10;
    problem[1].times.theta = fd_scheme_theta(FD_DOUGLAS, 2, 1);
    CHECK(heston_host_f64(&batch, both, 1, memory, bytes) == FD_OK && !status[0].what, "a problem: %d", status[0].what);
    CHECK(!memcmp(&values[0], &values[1], sizeof *values), "theta 0: %g, %g", values[0].value, values[1].value);
    check_near(values[0].value, 9, 1, "a problem's value"); /* 8.9 to 9.3 with volatilities of 20 % */
    free(memory);
}

static void of_three_factors(void)
{
    assets_parameters p, zero;
    fd_problem problem;
    fd_batch batch;
    fd_values values;
    fd_status status;
    memset(&p, 0, sizeof p), memset(&problem, 0, sizeof problem), memset(&batch, 0, sizeof batch);
    memset(&values, 0, sizeof values), memset(&status, 0, sizeof status), memset(&zero, 0, sizeof zero);
    CHECK(adi3d_check(&batch) == FD_BAD_SIZE && assets_host_bytes_f64(&batch, 1) == 0, "a batch");
    for (int d = 0; d < 3; d++) batch.points[d] = 9;
    CHECK(assets_host_f64(&batch, &p, 1, NULL, 0) == FD_BAD_SIZE, "a batch without steps");
    batch.steps = 20;
    CHECK(assets_host_f64(&batch, &p, 1, NULL, 0) == FD_OK, "a batch of none");
    batch.problems = batch.spots = 1, batch.problem = &problem, batch.status = &status, batch.values = &values;
    batch.steps = 0;
    CHECK(assets_host_f64(&batch, &p, 1, &p, sizeof p) == FD_BAD_SIZE && status.what == FD_BAD_SIZE &&
              isnan(values.value),
          "a batch without steps leaves NaN: %g", values.value);
    batch.steps = 20;
    const size_t bytes = assets_host_bytes_f64(&batch, 1);
    void *memory = malloc(bytes);
    CHECK(assets_host_f64(&batch, &zero, 1, memory, bytes) == FD_OK && status.what == FD_BAD_SIZE, "a problem: %d",
          status.what);
    assets_problem(9, 5, ASSETS_GEOMETRIC, &p, &problem);
    const size_t needed = assets_host_bytes_f64(&batch, 1); /* for a scheme of two stages */
    const int steps = problem.times.steps;
    free(memory), memory = malloc(needed);
    problem.times.steps = 0, problem.times.theta = 0;
    CHECK(assets_host_f64(&batch, &p, 1, memory, needed) == FD_OK && status.what == FD_BAD_TIMES && isnan(values.value),
          "no steps: %d", status.what);
    problem.times.steps = steps;
    values.value = 0;
    CHECK(assets_host_f64(&batch, &p, 1, NULL, needed) == FD_BAD_ARGUMENT && isnan(values.value), "no memory");
    CHECK(status.what == FD_BAD_ARGUMENT, "no memory: status %d", status.what);
    CHECK(assets_host_f64(&batch, &p, 1, memory, bytes) == FD_NO_ROOM && status.what == FD_NO_ROOM, "less memory");
    CHECK(assets_host_f64(&batch, &p, 1, memory, needed) == FD_OK && values.value > 0 && values.value < 100,
          "theta 0: %g", values.value);
    p.strike = NAN;
    CHECK(assets_host_f64(&batch, &p, 1, memory, needed) == FD_OK && status.what == FD_FINAL_NAN &&
              isnan(values.value),
          "a strike that is NaN: %d, %g", status.what, values.value);
    free(memory);
}

static void of_black_scholes(void)
{
    bs1d_option_f64 option;
    bs1d_result_f64 result;
    bs3d_problem problem;
    static double work[BS1D_HOST_LEN(64)];
    int points = 0;
    memset(&option, 0, sizeof option), memset(&problem, 0, sizeof problem);
    CHECK(bs1d_check_f64(&option, 64, 1) == BS1D_BAD_SIZE, "an option");
    CHECK(bs1d_suggest_f64(1e-3, &option, &points) != BS1D_OK, "a suggestion for nothing");
    CHECK(bs1d_host_implicit_f64(1, 64, &option, &result, NULL, work) == BS1D_OK && isnan(result.price) &&
              result.status == BS1D_BAD_SIZE,
          "an option's price");
    double *const number[4] = {&option.strike, &option.volatility, &option.maturity, &option.top};
    for (int k = 0; k < 4; k++) { /* one field left out */
        for (int m = 0; m < 4; m++) *number[m] = m == k ? 0 : 0.5;
        option.steps = 10;
        CHECK(bs1d_check_f64(&option, 64, 1) == BS1D_BAD_NUMBER, "number %d of an option", k);
    }
    CHECK(bs3d_check(&problem, 1) == BS3D_BAD_ARGUMENT && bs3d_check(&problem, 0) == BS3D_BAD_ARGUMENT, "no payoff");
    problem.payoff = BS3D_ASSET;
    CHECK(bs3d_check(&problem, 1) == BS3D_BAD_SIZE && bs3d_check(&problem, 0) == BS3D_BAD_SIZE, "three assets");
}

static void of_systems(void)
{
    trid_lines lines;
    cpu_avx_lines own;
    cpu_avx_grid_f64 grid;
    double a[4] = {0}, b[4] = {1, 1, 1, 1}, x[4] = {7, 7, 7, 7}, work[512];
    memset(&lines, 0, sizeof lines), memset(&own, 0, sizeof own), memset(&grid, 0, sizeof grid);
    CHECK(trid_lines_check(lines) == TRID_BATCH_OK, "no systems");
    lines.n = 2, lines.systems = 1;
    CHECK(trid_lines_check(lines) == TRID_BATCH_OVERLAP, "rows that coincide");
    CHECK(cpu_avx_thomas_f64(CPU_AVX_PLAIN, &own, a, b, a, b, x, work, 1) == CPU_AVX_OK && x[0] == 7, "no systems");
    own.n = own.systems = 1;
    CHECK(cpu_avx_thomas_f64(CPU_AVX_PLAIN, &own, a, b, a, b, x, work, 1) == CPU_AVX_OK && x[0] == 1, "one group");
    for (int k = 0; k < 3; k++) {
        own.n = k == 0 ? 2 : 1, own.systems = k == 1 ? 2 : 1, own.groups = k == 2 ? 2 : 1;
        CHECK(cpu_avx_thomas_f64(CPU_AVX_PLAIN, &own, a, b, a, b, x, work, 1) == CPU_AVX_BAD_ARGUMENT,
              "elements that coincide, %d", k);
    }
    CHECK(cpu_avx_grid_explicit1_f64(CPU_AVX_PLAIN, &grid, 1, a, b, work, 1) == CPU_AVX_BAD_ARGUMENT, "a grid");
}

int main(void)
{
    of_fd();
    of_one_factor();
    of_two_factors();
    of_three_factors();
    of_black_scholes();
    of_systems();
    return check_report();
}
