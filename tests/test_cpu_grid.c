/* test_cpu_grid.c - the three-factor ladder of cpu_avx.h in both precisions and in every instruction set of this
   processor, against the host reference of bs3d.h in double precision; it includes itself once for each precision.
   MIT licence, see LICENSE. */
#ifndef REAL
#define _DEFAULT_SOURCE
#define BS3D_NO_LAUNCHES
/* Makes small grids take many blocks, and store past the caches wherever rows are whole cache lines. */
#define CPU_AVX_GRID_CACHE 1
#define CPU_AVX_STREAM_BYTES 0
#include "bs3d.h"
#include "check.h"
#include "cpu_cases.h"

#include "bs3d_cases.h"

enum { EXPLICIT1, EXPLICIT2, IMPLICIT1, IMPLICIT2, RUNGS };
static const char *const rung_name[RUNGS] = {"explicit1", "explicit2", "implicit1", "implicit2"};

/* A problem, start values that are exact in single precision too, and the result of the reference, on grids without
   padding. */
typedef struct {
    bs3d_problem problem;
    double *start, *want, most;
} known;

static double *doubles(size_t count)
{
    double *p = (double *)malloc(count * sizeof *p);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

static known make(case_random *random, int implicit, const int *points, int steps, int correlation)
{
    known c;
    c.problem = case_problem_of(random, implicit, points[0], points[1], points[2], steps, BS3D_GIVEN, correlation);
    const bs3d_problem *o = &c.problem;
    const size_t cells = case_cells(o);
    c.start = doubles(cells);
    c.want = doubles(cells);
    c.most = 0;
    double *work = (double *)malloc(bs3d_host_bytes_f64(o));
    for (size_t i = 0; i < cells; i++) c.start[i] = (float)case_between(random, -1, 1);
    CASE_COPY(o, work, bs3d_pitch_f64(points[0]), c.start, points[0], double);
    CHECK((implicit ? bs3d_host_implicit_f64 : bs3d_host_explicit_f64)(o, work, NULL) == BS3D_OK, "the reference");
    CASE_COPY(o, c.want, points[0], work, bs3d_pitch_f64(points[0]), double);
    for (size_t i = 0; i < cells; i++) c.most = fmax(c.most, fabs(c.want[i]));
    free(work);
    return c;
}

#define REAL double
#define SUFFIX _f64
/* For a few steps, each of which rounds a sum of 13 to 19 terms no larger than 2 |u|, or solves diagonally dominant
   lines: some tens of roundings of 1.1e-16. */
#define TOLERANCE 1e-12
#include "test_cpu_grid.c"
#undef REAL
#undef SUFFIX
#undef TOLERANCE

#define REAL float
#define SUFFIX _f32
/* The same with 6e-8, and with coefficients that are rounded too: some 1e-5 at most. */
#define TOLERANCE 1e-4
#include "test_cpu_grid.c"

static void test_grids(int implicit)
{
    static const int shapes[][3] = {{4, 4, 4},   {5, 7, 9},    {17, 4, 33}, {33, 16, 5}, {65, 31, 12}, {16, 16, 16},
                                    {100, 6, 7}, {64, 100, 4}, {8, 37, 6},  {48, 5, 40}, {32, 4, 50},  {4, 33, 4}};
    static const int steps[] = {1, 2, 3, 5, 4};
    const int count = sizeof shapes / sizeof *shapes;
    case_random random = {20240 + (unsigned long long)implicit};
    for (int s = 0; s < count; s++)
        for (int kind = s % 2; kind < CASE_CORRELATIONS; kind += 2) {
            known c = make(&random, implicit, shapes[s], steps[(s + kind / 2) % 5], kind);
            for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
                if (cpu_left_out(isa)) continue;
                for (int rung = implicit ? IMPLICIT1 : EXPLICIT1; rung <= (implicit ? IMPLICIT2 : EXPLICIT2); rung++)
                    for (int threads = 1; threads <= 3; threads++) {
                        const int loose = (s + kind + threads) % 3; /* tight, whole lines and one more, odd */
                        run_f64(&c, isa, rung, threads, loose);
                        run_f32(&c, isa, rung, threads, loose);
                    }
            }
            free(c.start);
            free(c.want);
        }
}

int main(void)
{
    cpu_skips();
    test_grids(0);
    test_grids(1);
    test_arguments_f64();
    test_arguments_f32();
    return check_report();
}

#else /* REAL: once for each precision */

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define F(stem) JOIN(stem, SUFFIX)

/* The numbers of an axis between guard words: down, up, weight, and the factors of its matrix. */
typedef struct {
    guarded down, up, weight, factor;
} F(axis);

static F(axis) F(make_axis)(const bs3d_model *m, int number)
{
    F(axis) axis;
    const int n = m->points[number];
    guarded a = guard((size_t)n * sizeof(REAL), sizeof(REAL)), b = guard((size_t)n * sizeof(REAL), 0);
    guarded c = guard((size_t)n * sizeof(REAL), sizeof(REAL));
    axis.down = guard((size_t)n * sizeof(REAL), sizeof(REAL));
    axis.up = guard((size_t)n * sizeof(REAL), 0);
    axis.weight = guard((size_t)n * sizeof(REAL), 3 * sizeof(REAL));
    axis.factor = guard(CPU_AVX_FACTOR_LEN((size_t)n) * sizeof(REAL), sizeof(REAL));
    for (int i = 0; i < n; i++) {
        double down, centre, up;
        F(bs3d_row) row = F(bs3d_lane_row)(m, number, i);
        ((REAL *)axis.down.at)[i] = row.down;
        ((REAL *)axis.up.at)[i] = row.up;
        ((REAL *)axis.weight.at)[i] = row.weight;
        bs3d_lane_axis(m, number, i, &down, &centre, &up);
        ((REAL *)a.at)[i] = (REAL)-down;
        ((REAL *)b.at)[i] = (REAL)(1 - centre + (number == 0 ? m->discount : 0));
        ((REAL *)c.at)[i] = (REAL)-up;
    }
    CHECK(F(cpu_avx_factor)(n, (REAL *)a.at, (REAL *)b.at, (REAL *)c.at, (REAL *)axis.factor.at) == CPU_AVX_OK,
          "axis %d cannot be factored", number);
    unguard(&a, "a");
    unguard(&b, "b");
    unguard(&c, "c");
    return axis;
}

static void F(free_axis)(F(axis) * axis)
{
    unguard(&axis->down, "down");
    unguard(&axis->up, "up");
    unguard(&axis->weight, "weight");
    unguard(&axis->factor, "factor");
}

static F(cpu_avx_grid) F(make_grid)(const bs3d_model *m, int identity, const F(axis) * axes, long long pitch)
{
    F(cpu_avx_grid) g;
    const F(bs3d_pairs) pairs = F(bs3d_lane_pairs)(m, identity);
    g.nx = m->points[0];
    g.ny = m->points[1];
    g.nz = m->points[2];
    g.pitch = pitch;
    for (int i = 0; i < 3; i++) {
        g.down[i] = (const REAL *)axes[i].down.at;
        g.up[i] = (const REAL *)axes[i].up.at;
        g.weight[i] = (const REAL *)axes[i].weight.at;
        g.plus[i] = pairs.plus[i];
        g.minus[i] = pairs.minus[i];
    }
    g.same = pairs.same;
    return g;
}

static int F(march)(int rung, int isa, const F(cpu_avx_grid) * g, int steps, const F(axis) * axes, REAL *u, REAL *v,
                    void *work, int threads)
{
    const REAL *fx = (const REAL *)axes[0].factor.at, *fy = (const REAL *)axes[1].factor.at;
    const REAL *fz = (const REAL *)axes[2].factor.at;
    return rung == EXPLICIT1   ? F(cpu_avx_grid_explicit1)(isa, g, steps, u, v, work, threads)
           : rung == EXPLICIT2 ? F(cpu_avx_grid_explicit2)(isa, g, steps, u, v, work, threads)
           : rung == IMPLICIT1 ? F(cpu_avx_grid_implicit1)(isa, g, steps, fx, fy, fz, u, v, work, threads)
                               : F(cpu_avx_grid_implicit2)(isa, g, steps, fx, fy, fz, u, v, work, threads);
}

/* Returns whether all bytes between the rows and after the last row are as guard left them. The last row has no padding
   if the array ends with its last point. */
static int F(padding_intact)(const F(cpu_avx_grid) * g, const guarded *array)
{
    const long long rows = (long long)g->ny * g->nz;
    const unsigned char *bytes = (const unsigned char *)array->at;
    int intact = 1;
    for (long long row = 0; row < rows; row++) {
        size_t end = (size_t)((row + 1) * g->pitch) * sizeof(REAL);
        if (end > array->bytes) end = array->bytes;
        for (size_t i = (size_t)(row * g->pitch + g->nx) * sizeof(REAL); i < end; i++) intact &= bytes[i] == 0xff;
    }
    return intact;
}

/* Runs one march of one rung: with arrays that end with the last point, with NaN in the padding, in v and in work, and
   with v and u aligned or not. */
static void F(run)(const known *c, int isa, int rung, int threads, int loose)
{
    const bs3d_problem *o = &c->problem;
    const bs3d_model m = bs3d_model_of(o);
    const int line = 64 / (int)sizeof(REAL), nx = o->points[0], rows = o->points[1] * o->points[2];
    const long long pitch = loose == 0 ? nx : loose == 1 ? (nx / line + 2) * line : nx + 3;
    const size_t bytes = (size_t)(pitch * (rows - 1) + nx) * sizeof(REAL);
    F(axis) axes[3];
    for (int i = 0; i < 3; i++) axes[i] = F(make_axis)(&m, i);
    const F(cpu_avx_grid) g = F(make_grid)(&m, rung < IMPLICIT1, axes, pitch);
    guarded u = guard(bytes, loose == 2 ? sizeof(REAL) : 0), v = guard(bytes, loose == 2 ? 5 * sizeof(REAL) : 0);
    guarded work = guard(F(cpu_avx_grid_bytes)(&g, threads), sizeof(REAL));
    CASE_COPY(o, (REAL *)u.at, pitch, c->start, nx, REAL);
    CHECK(F(march)(rung, isa, &g, 0, axes, (REAL *)u.at, (REAL *)v.at, work.at, threads) == CPU_AVX_OK, "no steps");
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(loose == 1 ? FE_DOWNWARD : FE_TONEAREST);
    int status = F(march)(rung, isa, &g, o->steps, axes, (REAL *)u.at, (REAL *)v.at, work.at, threads);
    CHECK(fegetround() == (loose == 1 ? FE_DOWNWARD : FE_TONEAREST) && !fetestexcept(CPU_RAISED_BY_BAD),
          "%s, %s: rounds as before, raises exceptions %x", rung_name[rung], cpu_avx_name(isa),
          (unsigned)fetestexcept(CPU_RAISED_BY_BAD));
    fesetround(FE_TONEAREST);
    CHECK(status == CPU_AVX_OK, "%s, %s: %s", rung_name[rung], cpu_avx_name(isa), cpu_avx_status_string(status));
    double worst = 0;
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < nx; i++) {
            double error = fabs((double)((REAL *)u.at)[row * pitch + i] - c->want[row * nx + i]);
            if (!(error <= worst) && worst == worst) worst = error; /* keeps NaN */
        }
    check_near(worst, 0, TOLERANCE * c->most, "%s, %s, %d bytes a number: %dx%dx%d, pitch %lld, %d steps, %d threads",
               rung_name[rung], cpu_avx_name(isa), (int)sizeof(REAL), nx, o->points[1], o->points[2], pitch, o->steps,
               threads);
    CHECK(F(padding_intact)(&g, &u) && F(padding_intact)(&g, &v), "%s, %s: written between rows", rung_name[rung],
          cpu_avx_name(isa));
    unguard(&u, "u, %s, %s", rung_name[rung], cpu_avx_name(isa));
    unguard(&v, "v, %s, %s", rung_name[rung], cpu_avx_name(isa));
    unguard(&work, "work, %s, %s", rung_name[rung], cpu_avx_name(isa));
    for (int i = 0; i < 3; i++) F(free_axis)(&axes[i]);
}

/* Checks that each argument, spoilt alone, is refused, and that u is left alone. */
static void F(test_arguments)(void)
{
    const bs3d_problem o = case_model(5, 10, BS3D_GIVEN);
    const bs3d_model m = bs3d_model_of(&o);
    F(axis) axes[3];
    for (int i = 0; i < 3; i++) axes[i] = F(make_axis)(&m, i);
    const F(cpu_avx_grid) good = F(make_grid)(&m, 1, axes, 5);
    REAL u[125], v[125];
    for (int i = 0; i < 125; i++) u[i] = v[i] = (REAL)i;
    guarded work = guard(F(cpu_avx_grid_bytes)(&good, 1), 0);
    for (int kind = 0; kind < 17; kind++) {
        F(cpu_avx_grid) bad = good;
        if (kind == 0) bad.nx = 3;
        if (kind == 1) bad.ny = 3;
        if (kind == 2) bad.nz = 3;
        if (kind == 3) bad.nx = -5;
        if (kind == 4) bad.pitch = 4;
        if (kind >= 5 && kind < 8) bad.down[kind - 5] = NULL;
        if (kind >= 8 && kind < 11) bad.up[kind - 8] = NULL;
        if (kind >= 11 && kind < 14) bad.weight[kind - 11] = NULL;
        if (kind < 14) CHECK(F(cpu_avx_grid_bytes)(&bad, 1) == 0, "bytes for bad grid %d", kind);
        for (int rung = 0; rung < RUNGS; rung++) {
            int status = F(march)(rung, CPU_AVX_PLAIN, kind == 14 ? NULL : &bad, kind == 15 ? -1 : 1, axes, u, v,
                                  work.at, kind == 16 ? 0 : 1);
            CHECK(status == CPU_AVX_BAD_ARGUMENT, "%s, bad argument %d: %d", rung_name[rung], kind, status);
        }
    }
    for (int rung = 0; rung < RUNGS; rung++) {
        CHECK(F(march)(rung, CPU_AVX_PLAIN, &good, 1, axes, NULL, v, work.at, 1) == CPU_AVX_BAD_ARGUMENT, "no u");
        CHECK(F(march)(rung, CPU_AVX_PLAIN, &good, 1, axes, u, NULL, work.at, 1) == CPU_AVX_BAD_ARGUMENT, "no v");
        CHECK(F(march)(rung, CPU_AVX_PLAIN, &good, 1, axes, u, v, NULL, 1) == CPU_AVX_BAD_ARGUMENT, "no work");
        CHECK(F(march)(rung, CPU_AVX_ISAS, &good, 1, axes, u, v, work.at, 1) == CPU_AVX_BAD_ISA, "isa too large");
        CHECK(F(march)(rung, -1, &good, 1, axes, u, v, work.at, 1) == CPU_AVX_BAD_ISA, "isa -1");
    }
    const REAL *f = (const REAL *)axes[0].factor.at;
    for (int i = 0; i < 3; i++) {
        const REAL *fx = i == 0 ? NULL : f, *fy = i == 1 ? NULL : f, *fz = i == 2 ? NULL : f;
        CHECK(F(cpu_avx_grid_implicit1)(0, &good, 1, fx, fy, fz, u, v, work.at, 1) == CPU_AVX_BAD_ARGUMENT, "factor");
        CHECK(F(cpu_avx_grid_implicit2)(0, &good, 1, fx, fy, fz, u, v, work.at, 1) == CPU_AVX_BAD_ARGUMENT, "factor");
    }
    CHECK(F(cpu_avx_grid_bytes)(NULL, 1) == 0 && F(cpu_avx_grid_bytes)(&good, 0) == 0, "bytes for nothing");
    CHECK(F(cpu_avx_grid_bytes)(&good, 2) > F(cpu_avx_grid_bytes)(&good, 1), "bytes for two threads");
    for (int i = 0; i < 125; i++) CHECK(u[i] == (REAL)i && v[i] == (REAL)i, "written in spite of a bad argument");
    unguard(&work, "work");
    for (int i = 0; i < 3; i++) F(free_axis)(&axes[i]);
}

#undef PASTE
#undef JOIN
#undef F
#endif /* REAL */
