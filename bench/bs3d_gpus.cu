/* bs3d_gpus.cu - the times of bs3d.h's explicit and ADI marches on slabs of planes, one a GPU: docs/gpus.md's tables.
   MIT licence, see LICENSE.

       bs3d_gpus [explicit|adi] [f32|f64] [--size N [NY NZ]] [--steps N] [--gpus N] [--slabs N] [--deep N] [--copies]
                 [--in-turn] [--check] [--measure] [--links] [--timeout SECONDS] [--lose STEP] [--csv FILE]

   The option is a call on the geometric average of three assets, S = K = 100, r = 0.05, sigma = 0.2, all correlations
   0.5. A step is 1/2000 year long (ADI), or 1/10000 year on 256 points and less on more points (explicit). The program
   prints a row for each march; docs/gpus.md says what is sent, when and how much.
     --size      points, up to 1024 in x and y, and in z up to 1024 for each slab. Without it: 256 on each axis, and
                 --check; with --measure, 512
     --steps     64, if not given; with --measure, 48 (ADI) or 128 (explicit)
     --slabs     more slabs than GPUs, so that a GPU has several; only with --copies
     --deep      explicit: how many planes of each neighbour a slab copies; it sends once in that many steps
     --copies    sends by cudaMemcpyPeerAsync in one process instead of by NCCL
     --in-turn   sends and computes one after the other
     --check     also marches the whole grid on each GPU by bs3d.h's own launch, and compares all values, or says that
                 the grid does not fit on one GPU
     --measure   measures all of docs/gpus.md's table, strong and weak scaling on 1, 2, 4 ... GPUs, in a minute
     --links     measures what a message takes
     --timeout   the seconds without progress after which the program ends (30)
     --lose      from this step on the last slab sends nothing, which shows the timeout

   One process has all GPUs of a machine, and sends by NCCL (compiled with -DBS3D_GPUS_NCCL) or by copies. If MPI starts
   the program (compiled with -DBS3D_GPUS_MPI), each process has one GPU, and sends by NCCL or else by MPI. */
#include "bench.h"
#include "gpus_march.h"

static World world;
static FILE *csv;
static int devices;
static double copy_speed; /* bytes a second, read and written, on one GPU */

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void heading(void)
{
    const Bench bench = {csv};
    char date[32];
    time_t now = time(NULL);
    cudaDeviceProp device;
    int driver;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaDriverGetVersion(&driver));
    bench_line(bench, "# %d x %s, CUDA driver %d.%d, nvcc %d.%d.%d", devices, device.name, driver / 1000,
               driver % 100 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
#ifdef BS3D_GPUS_NCCL
    int version;
    done(nccl_status(ncclGetVersion(&version)));
    bench_line(bench, ", NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
#endif
    bench_line(bench, ", %s, %s\n", BENCH_FLAGS, date);
    copy_speed = bench_copy_speed(bench);
    if (csv)
        fprintf(csv, "scaling,engine,precision,nx,ny,nz,gpus,slabs,by,deep,steps,ms_per_step,points_per_s,pct_of_limit,"
                     "speedup,bytes_sent_per_step,us_messages,us_alone,pct_hidden,value,difference\n");
    printf("scaling engine   prec            grid gpus slabs by     deep  ms a step  Gpoints/s  %% limit speedup  "
           "bytes sent us messages %% hidden  value             difference\n");
}

/* Prints a number into `to`: nothing if it is negative, which means unknown. */
static const char *text(char *to, size_t size, const char *format, double number)
{
    *to = 0;
    if (!(number < 0)) snprintf(to, size, format, number);
    return to;
}

/* Returns the share of the messages' time that the march hides, in percent. */
static double hidden_share(const Row *r)
{
    if (!(r->ms_messages > 0) || !(r->ms_alone > 0)) return -1;
    const double hidden = 100 * (1 - (r->ms - r->ms_alone) / r->ms_messages);
    return hidden > 100 ? 100 : hidden < 0 ? 0 : hidden;
}

static void print_row(const Row *r)
{
    char grid[40], field[8][40];
    const double points = (double)r->points[0] * r->points[1] * r->points[2];
    const double speed = r->ms > 0 ? 1e3 * points / r->ms : -1, size = r->precision[1] == '3' ? 4 : 8;
    const double limit = copy_speed > 0 && speed > 0 ? 100 * 2 * size * speed / copy_speed / r->gpus : -1;
    snprintf(grid, sizeof grid, "%dx%dx%d", r->points[0], r->points[1], r->points[2]);
    text(field[0], sizeof field[0], "%.6g", r->ms);
    text(field[1], sizeof field[1], "%.5g", speed);
    text(field[2], sizeof field[2], "%.1f", limit);
    text(field[3], sizeof field[3], "%.3f", r->speedup);
    text(field[4], sizeof field[4], "%.1f", r->ms_messages < 0 ? -1 : 1e3 * r->ms_messages);
    text(field[5], sizeof field[5], "%.1f", r->ms_alone < 0 ? -1 : 1e3 * r->ms_alone);
    text(field[6], sizeof field[6], "%.0f", hidden_share(r));
    text(field[7], sizeof field[7], "%.3e", r->difference);
    if (csv) {
        fprintf(csv, "%s,%s,%s,%d,%d,%d,%d,%d,%s,%d,%d,%s,%s,%s,%s,%.0f,%s,%s,%s,%.17g,%s\n", r->scaling, r->engine,
                r->precision, r->points[0], r->points[1], r->points[2], r->gpus, r->slabs, r->by, r->deep, r->steps,
                field[0], field[1], field[2], field[3], r->bytes, field[4], field[5], field[6], r->value, field[7]);
        fflush(csv);
    }
    text(field[1], sizeof field[1], "%.3f", speed < 0 ? -1 : 1e-9 * speed);
    if (r->unchecked) snprintf(field[7], sizeof field[7], "not checked");
    printf("%-7s %-8s %s %15s %4d %5d %-6s %4d %10s %10s %8s %7s %11.0f %11s %8s  %-17.10g %s\n", r->scaling, r->engine,
           r->precision, grid, r->gpus, r->slabs, r->by, r->deep, field[0], field[1], field[2], field[3], r->bytes,
           field[4], field[6], r->value, field[7]);
    fflush(stdout);
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static int wanted[2] = {1, 1}, wanted_engine[2] = {1, 1}, size[3], steps_given, gpus_given, slabs_given, deep_given;
static int copies, in_turn, checked, measuring, links, timeout_given;

static double alone_ms[2][2]; /* a step of the strong scaling's grid on one GPU: by engine and precision */

/* Measures a march on the world, and prints its row. */
static void measure_march(int implicit, int is_double, const int *points, int gpus, const char *scaling, int check_it,
                          int usual_steps)
{
    const bs3d_problem problem = model_problem(implicit, points, steps_given ? steps_given : usual_steps);
    bs3d_ranks_options options = {};
    Row row;
    options.implicit = implicit;
    options.halo = deep_given;
    options.in_turn = in_turn;
    row.scaling = scaling;
    row.gpus = gpus;
    (is_double ? measured_march<Double> : measured_march<Single>)(&world, &problem, &options, 1, check_it, &row);
    double *alone = &alone_ms[implicit][is_double];
    if (ranks_of(&world) == 1) *alone = row.ms;
    row.speedup = *alone > 0 && row.ms > 0 ? *alone / row.ms : -1;
    if (world.exchange.local->rank == 0) print_row(&row);
}

/* Measures bs3d.h's own launch on each GPU of the world, and prints its row. */
static void measure_launch(int implicit, int is_double, const int *points, int steps)
{
    const bs3d_problem problem = model_problem(implicit, points, steps);
    Row row;
    row.scaling = "one";
    row.gpus = 1;
    (is_double ? launched<Double> : launched<Single>)(&world, &problem, implicit, &row);
    largest_of(&world, 0); /* waits until all are done */
    if (ranks_of(&world) > 1) alone_ms[implicit][is_double] = row.ms;
    if (world.exchange.local->rank == 0) print_row(&row);
}

/* Opens a world of `ranks` ranks on `gpus` GPUs. Several processes, each with one GPU, may be on several machines. */
static void open_world_on(int ranks, int gpus, int by)
{
    open_world(&world, ranks, gpus < devices ? gpus : devices, by);
}

/* Lists the ways in which the GPUs of the processes can send, the best first. Returns how many there are. */
static int ways_of(int gpus, int processes, int *ways)
{
    int count = 0;
    const int best = exchange_best(gpus, devices);
    ways[count++] = best;
    if (processes == 1 && best != EXCHANGE_COPIES) ways[count++] = EXCHANGE_COPIES;
    return count;
}

/* Measures all requested marches on the GPUs of the world. */
static void measure_world(int n, int gpus, int processes)
{
    for (int implicit = 0; implicit < 2; implicit++)
        for (int is_double = 0; is_double < 2; is_double++) {
            const int strong[3] = {n, n, n}, weak[3] = {n, n, n * gpus}, steps = implicit ? 48 : 128;
            if (!wanted[is_double] || !wanted_engine[implicit]) continue;
            if (gpus == processes) measure_launch(implicit, is_double, strong, steps);
            measure_march(implicit, is_double, strong, gpus, gpus == 1 ? "one" : "strong", 1, steps);
            if (gpus > 1) measure_march(implicit, is_double, weak, gpus, "weak", 1, steps);
        }
}

/* Measures the table of docs/gpus.md: n^3 points on all GPUs (strong), and on each (weak). If there are several
   processes, each has one GPU; the row of one GPU is then bs3d.h's own launch on each of them. */
static void measure(int n, int most_gpus, int processes)
{
    for (int gpus = processes; gpus <= most_gpus; gpus *= 2) {
        int ways[2];
        const int count = ways_of(gpus, processes, ways);
        for (int w = 0; w < count; w++) {
            open_world_on(gpus, gpus, ways[w]);
            measure_world(n, gpus, processes);
            close_world(&world);
        }
    }
}

/* ---- what a message takes ---------------------------------------------------------------------------------------- */

enum { REPEATS = 50 };

/* Sends `bytes` bytes between all neighbours in a chain of all GPUs, both ways at once. Each rank has 4 * `most` bytes
   of memory. */
static void send_along(void *const *memory, size_t bytes, size_t most)
{
    const bs3d_exchange *by = &world.exchange.ranks.exchange;
    done(by->begin(by->context));
    for (int i = 0; i < count_of(&world); i++)
        for (int up = 0; up < 2; up++) {
            const bs3d_rank *r = world.exchange.local + i;
            char *at = (char *)memory[i] + (size_t)up * 2 * most;
            const bs3d_message message = {at, at + most, bytes};
            const int peer = r->rank + (up ? 1 : -1);
            if (peer >= 0 && peer < ranks_of(&world)) done(by->message(by->context, r, peer, 0, &message));
        }
    done(by->end(by->context));
}

/* Returns the microseconds that send_along takes, after a warm-up. */
static double microseconds(void *const *memory, size_t bytes, size_t most)
{
    const bs3d_rank *r = world.exchange.local;
    float ms = 0;
    for (int repeat = -5; repeat < REPEATS; repeat++) {
        if (repeat == 0) {
            here(&world, 0);
            check(cudaStreamSynchronize(r->transfer));
            check(cudaEventRecord(world.clock->start, r->transfer));
        }
        send_along(memory, bytes, most);
    }
    here(&world, 0);
    check(cudaEventRecord(world.clock->stop, r->transfer));
    await(&world, world.clock->stop);
    check(cudaEventElapsedTime(&ms, world.clock->start, world.clock->stop));
    return 1e3 * (double)ms / REPEATS;
}

static void measure_links(int gpus)
{
    int ways[2];
    const int count = gpus < 2 ? 0 : ways_of(gpus, 1, ways);
    const size_t most = (size_t)1 << 26;
    if (csv && count) fprintf(csv, "by,gpus,bytes,us,gbytes_per_s\n");
    for (int w = 0; w < count; w++) {
        const char *name = ways[w] == EXCHANGE_NCCL ? "nccl" : "copies";
        void *memory[MOST_RANKS];
        open_world_on(gpus, gpus, ways[w]);
        for (int i = 0; i < count_of(&world); i++) {
            here(&world, i);
            check(cudaMalloc(memory + i, 4 * most));
        }
        for (size_t bytes = 1024; bytes <= most; bytes *= 4) {
            const double us = microseconds(memory, bytes, most), speed = 1e-3 * (double)bytes / us;
            if (csv) fprintf(csv, "%s,%d,%zu,%.2f,%.2f\n", name, gpus, bytes, us, speed);
            printf("%-6s %2d GPUs %10zu bytes %9.2f us %8.2f GB/s\n", name, gpus, bytes, us, speed);
        }
        for (int i = 0; i < count_of(&world); i++) {
            here(&world, i);
            check(cudaFree(memory[i]));
        }
        close_world(&world);
    }
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Prints the usage. argument: the one that was not understood; null: something is missing. Returns the exit status. */
static int usage(const char *argument)
{
    fprintf(stderr, "bs3d_gpus: %s%s\n", argument ? "not understood: " : "something is missing at the end",
            argument ? argument : "");
    fprintf(stderr, "usage: bs3d_gpus [explicit|adi] [f32|f64] [--size N [NY NZ]] [--steps N] [--gpus N] [--slabs N] "
                    "[--deep N]\n                 [--copies] [--in-turn] [--check] [--measure] [--links] "
                    "[--timeout SECONDS] [--lose STEP] [--csv FILE]\n");
    return 2;
}

/* Returns the argument as a positive number; 0 if it is not one. */
static int number(const char *argument)
{
    char *end = NULL;
    long n = argument ? strtol(argument, &end, 10) : 0;
    return end && !*end && n > 0 && n < 10000000 ? (int)n : 0;
}

/* Reads the arguments; argv ends with a null pointer, which is not a number. Returns 0 or usage's status. */
static int read_arguments(int argc, char **argv, const char **file)
{
    static const struct {
        const char *name;
        int *value, is_flag;
    } known[] = {{"--steps", &steps_given, 0}, {"--gpus", &gpus_given, 0},   {"--slabs", &slabs_given, 0},
                 {"--deep", &deep_given, 0},   {"--lose", &lost.from, 0},    {"--timeout", &timeout_given, 0},
                 {"--size", size, 0},          {"--copies", &copies, 1},     {"--in-turn", &in_turn, 1},
                 {"--check", &checked, 1},     {"--measure", &measuring, 1}, {"--links", &links, 1}};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        int found = 0;
        for (const auto &each : known) {
            if (strcmp(name, each.name)) continue;
            found = 1;
            if (!(*each.value = each.is_flag ? 1 : number(argv[++i]))) return usage(argv[i]);
        }
        if (!strcmp(name, "--size")) {
            const int both = i + 2 < argc && number(argv[i + 1]) && number(argv[i + 2]);
            size[1] = both ? number(argv[++i]) : size[0];
            size[2] = both ? number(argv[++i]) : size[0];
        } else if (!strcmp(name, "f32") || !strcmp(name, "f64")) {
            wanted[name[1] == '3'] = 0;
        } else if (!strcmp(name, "explicit") || !strcmp(name, "adi")) {
            wanted_engine[name[0] == 'e'] = 0;
        } else if (!strcmp(name, "--csv")) {
            if (!(*file = argv[++i])) return usage(NULL);
        } else if (!found) {
            return usage(name);
        }
    }
    if (timeout_given) timeout_seconds = timeout_given;
    return 0;
}

static void march_as_asked(int gpus, int ranks)
{
    if (!size[0]) size[0] = size[1] = size[2] = 256, checked = 1;
    open_world_on(ranks, gpus, copies ? (int)EXCHANGE_COPIES : exchange_best(ranks, gpus));
    for (int implicit = 0; implicit < 2; implicit++)
        for (int is_double = 0; is_double < 2; is_double++)
            if (wanted[is_double] && wanted_engine[implicit])
                measure_march(implicit, is_double, size, ranks < gpus ? ranks : gpus, "asked", checked, 64);
    close_world(&world);
}

static int run(int argc, char **argv)
{
    const char *file = NULL;
    int rank;
    const int wrong = read_arguments(argc, argv, &file), processes = exchange_processes(&rank);
    if (wrong) return wrong;
    if (processes > 1 && (links || copies || gpus_given || slabs_given))
        return usage("--links, --copies, --gpus or --slabs, which are for one process");
    if (file && rank == 0 && !(csv = fopen(file, "w"))) {
        perror(file);
        return 2;
    }
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
        fprintf(stderr, "bs3d_gpus: no GPU\n");
        return 3;
    }
    signal(SIGALRM, on_alarm);
    now_doing("starting");
    const int gpus = processes > 1 ? processes : gpus_given && gpus_given < devices ? gpus_given : devices;
    if (rank == 0 && !links) heading();
    if (links)
        measure_links(gpus);
    else if (measuring)
        measure(size[0] ? size[0] : 512, gpus, processes);
    else
        march_as_asked(gpus, slabs_given ? slabs_given : gpus);
    alarm(0);
    if (csv && fclose(csv)) {
        perror(file);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
#ifdef BS3D_GPUS_MPI
    MPI_Init(&argc, &argv);
#endif
    int status = run(argc, argv);
#ifdef BS3D_GPUS_MPI
    if (status) MPI_Abort(MPI_COMM_WORLD, status); /* the others may wait for this one */
    MPI_Finalize();
#endif
    return status;
}
