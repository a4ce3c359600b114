/* fd1d.cu - pde/fd1d.h on a GPU, with the Black-Scholes equation as its model, beside bs1d_implicit4, which has that
   equation built in: time of a batch, and time per point and step.
   MIT licence, see LICENSE.

       fd1d [--csv FILE]

   2048 calls of one year on 256 points up to 200, in 2500 steps of Crank-Nicolson. Other rows: American puts, a local
   volatility that changes in every step, grids of other sizes. "share" is the time relative to that of
   bs1d_implicit4 in increment form, which rounds as fd1d.h does. */
#include "bench.h"
#include "../bs1d.h"
#include "../tests/fd1d_models.h"

enum { PROBLEMS = 2048, STEPS = 2500, RUNS = 9 };

/* A batch of copies of one problem of a model, on the device. */
template <typename Parameters>
struct Copies {
    fd_batch batch;
    Parameters *parameters;
    double *spot;
    void *memory;
};

template <typename Parameters>
static Copies<Parameters> copies_of(const Parameters &one, int points, int steps, int exercise)
{
    Copies<Parameters> made;
    std::vector<fd_problem> problems(PROBLEMS);
    std::vector<Parameters> parameters(PROBLEMS, one);
    const double spot = 100;
    fd_problem problem;
    memset(&problem, 0, sizeof problem);
    const fd_axis axis = {0, 200, points, 0, {0}, {0}, {0}};
    const fd_times times = {1, steps, FD_EQUAL, 1, FD_THETA, 0.5, 0, 0, NULL, NULL};
    BENCH_OK(cudaMalloc(&made.spot, sizeof spot));
    BENCH_OK(cudaMemcpy(made.spot, &spot, sizeof spot, cudaMemcpyHostToDevice));
    problem.axis[0] = axis, problem.times = times, problem.exercise = exercise, problem.spot = made.spot;
    for (fd_problem &copy : problems) copy = problem;
    memset(&made.batch, 0, sizeof made.batch);
    made.batch.problems = PROBLEMS, made.batch.points[0] = points, made.batch.steps = steps, made.batch.spots = 1;
    fd_problem *on_device;
    BENCH_OK(cudaMalloc(&on_device, PROBLEMS * sizeof *on_device));
    BENCH_OK(cudaMemcpy(on_device, problems.data(), PROBLEMS * sizeof *on_device, cudaMemcpyHostToDevice));
    made.batch.problem = on_device;
    BENCH_OK(cudaMalloc(&made.parameters, PROBLEMS * sizeof one));
    BENCH_OK(cudaMemcpy(made.parameters, parameters.data(), PROBLEMS * sizeof one, cudaMemcpyHostToDevice));
    BENCH_OK(cudaMalloc(&made.batch.status, PROBLEMS * sizeof(fd_status)));
    BENCH_OK(cudaMalloc(&made.batch.values, PROBLEMS * sizeof(fd_values)));
    return made;
}

template <typename Parameters>
static void free_copies(Copies<Parameters> &copies)
{
    BENCH_OK(cudaFree((void *)copies.batch.problem));
    BENCH_OK(cudaFree(copies.parameters));
    BENCH_OK(cudaFree(copies.batch.status));
    BENCH_OK(cudaFree(copies.batch.values));
    BENCH_OK(cudaFree(copies.spot));
}

/* Times a batch, whose problems must all have the same value. Returns seconds. */
template <typename Parameters, typename Bytes, typename Solve>
static double time_copies(Copies<Parameters> &copies, Bytes bytes_of, Solve solve, double *value)
{
    const size_t bytes = bytes_of(&copies.batch);
    BENCH_OK(cudaMalloc(&copies.memory, bytes));
    const double seconds = bench_seconds(RUNS, [&] {
        if (solve(&copies.batch, copies.parameters, copies.memory, bytes, 0)) fprintf(stderr, "refused\n"), exit(1);
    });
    std::vector<fd_values> values(PROBLEMS);
    std::vector<fd_status> status(PROBLEMS);
    BENCH_OK(cudaMemcpy(values.data(), copies.batch.values, PROBLEMS * sizeof values[0], cudaMemcpyDeviceToHost));
    BENCH_OK(cudaMemcpy(status.data(), copies.batch.status, PROBLEMS * sizeof status[0], cudaMemcpyDeviceToHost));
    for (int p = 0; p < PROBLEMS; p++)
        if (status[p].what || !(values[p].value >= values[0].value && values[p].value <= values[0].value))
            fprintf(stderr, "problem %d: %s\n", p, fd_status_string(status[p].what)), exit(1);
    *value = values[0].value;
    BENCH_OK(cudaFree(copies.memory));
    return seconds;
}

/* Times bs1d_implicit4. */
template <typename Option, typename Result, typename Price>
static double time_implicit4(Price price, int points, int steps, int flags, double *value)
{
    const Option one = {100, 100, (decltype(Option::spot))0.05, 0, (decltype(Option::spot))0.2, 1, 200, steps, flags};
    std::vector<Option> options(PROBLEMS, one);
    Option *on_device;
    Result *results, first;
    BENCH_OK(cudaMalloc(&on_device, PROBLEMS * sizeof one));
    BENCH_OK(cudaMalloc(&results, PROBLEMS * sizeof first));
    BENCH_OK(cudaMemcpy(on_device, options.data(), PROBLEMS * sizeof one, cudaMemcpyHostToDevice));
    const double seconds = bench_seconds(RUNS, [&] { price(PROBLEMS, points, on_device, results, NULL, 0); });
    BENCH_OK(cudaMemcpy(&first, results, sizeof first, cudaMemcpyDeviceToHost));
    *value = (double)first.price;
    BENCH_OK(cudaFree(on_device));
    BENCH_OK(cudaFree(results));
    return seconds;
}

/* Prints a row. beside: the seconds of bs1d_implicit4 in increments, on the same points and in the same precision. */
static void row(const Bench &bench, const char *what, const char *precision, int points, double seconds, double beside,
                double value)
{
    bench_line(bench, "%s,%s,%d,%d,%.4f,%.2f,%.3f,%.7f\n", what, precision, points, STEPS, 1e3 * seconds,
               1e12 * seconds / ((double)PROBLEMS * points * STEPS), seconds / beside, value);
}

/* Measures bs1d_implicit4, with increments and without, in one precision. Returns the seconds with increments. */
template <typename Option, typename Result, typename Price>
static double measure_implicit4(const Bench &bench, Price price, const char *precision, int points)
{
    const int flags = BS1D_CALL | BS1D_CRANK_NICOLSON;
    double value, beside = time_implicit4<Option, Result>(price, points, STEPS, flags | BS1D_INCREMENT, &value);
    row(bench, "implicit4 in increments", precision, points, beside, beside, value);
    const double seconds = time_implicit4<Option, Result>(price, points, STEPS, flags, &value);
    row(bench, "implicit4", precision, points, seconds, beside, value);
    return beside;
}

/* Measures a model in both precisions. beside: as in row, in both. */
template <typename Parameters, typename Bytes, typename Solve>
static void measure(const Bench &bench, const char *what, const Parameters &one, int points, int exercise,
                    Bytes *const bytes[2], Solve *const solve[2], const double beside[2])
{
    Copies<Parameters> copies = copies_of(one, points, STEPS, exercise);
    for (int q = 0; q < 2; q++) {
        double value;
        const double seconds = time_copies(copies, bytes[q], solve[q], &value);
        row(bench, what, q ? "f64" : "f32", points, seconds, beside[q], value);
    }
    free_copies(copies);
}

typedef size_t bytes_of(const fd_batch *);
template <typename Parameters>
using Solver = int(const fd_batch *, const Parameters *, void *, size_t, cudaStream_t);

int main(int argc, char **argv)
{
    const Bench bench = bench_open(argc, argv);
    bench_line(bench, "what,precision,points,steps,ms,ps a point and step,share,value\n");
    const stock_parameters call = {100, 0.05, 0, 0.2, 0, 0, 0}, put = {100, 0.05, 0, 0.2, 0, 1, 0};
    const surface_parameters surface = {100, 0.03, 0.01};
    bytes_of *const stock_bytes[2] = {stock_device_bytes_f32, stock_device_bytes_f64};
    bytes_of *const surface_bytes[2] = {surface_device_bytes_f32, surface_device_bytes_f64};
    Solver<stock_parameters> *const stock[2] = {stock_device_f32, stock_device_f64};
    Solver<surface_parameters> *const local[2] = {surface_device_f32, surface_device_f64};
    for (int points = 64; points <= 1024; points *= 2) {
        const double beside[2] = {
            measure_implicit4<bs1d_option_f32, bs1d_result_f32>(bench, bs1d_implicit4_f32<>, "f32", points),
            measure_implicit4<bs1d_option_f64, bs1d_result_f64>(bench, bs1d_implicit4_f64<>, "f64", points)};
        measure(bench, "call", call, points, FD_EUROPEAN, stock_bytes, stock, beside);
        measure(bench, "American put", put, points, FD_AMERICAN, stock_bytes, stock, beside);
        measure(bench, "local volatility", surface, points, FD_EUROPEAN, surface_bytes, local, beside);
    }
    return 0;
}
