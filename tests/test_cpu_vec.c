/* test_cpu_vec.c - the vector layer of cpu_avx.h: every instruction set, one after another, against plain C.
   MIT licence, see LICENSE.

   CPU_ISA=plain, avx, avx2, avx512 or neon in the environment leaves the other sets out. With SHORT_TESTS reciprocals
   are sampled; otherwise every significand is tried. The file includes itself once for each precision and instruction
   set. */
#ifndef SET
#define _DEFAULT_SOURCE
#include "cpu_cases.h"
#include "random.h"

#include <float.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SEED = 20241121, MOST_LANES = 16 };

#define JOIN_NAME(stem, set, precision) stem##_##set##_##precision
#define NAME(stem, set, precision) JOIN_NAME(stem, set, precision)
#define JOIN_TARGET(set) CPU_AVX_TARGET_##set
#define TARGET_OF(set) JOIN_TARGET(set)
#define JOIN_TEXT(set, precision) #set " " #precision
#define TEXT(set, precision) JOIN_TEXT(set, precision)

/* Memory between two pages that nobody may touch, not even by masked loads and stores. */
static unsigned char *room, *room_end;

static void open_room(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *all = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect((char *)all + page, page, PROT_READ | PROT_WRITE)) {
        perror("mmap");
        exit(EXIT_FAILURE);
    }
    room = (unsigned char *)all + page;
    room_end = room + page;
}

/* A copy of the room, in which plain C stores the same: after a store both must be equal. */
static unsigned char *expected;
static void fill_room(void)
{
    for (unsigned char *p = room; p < room_end; p++) *p = (unsigned char)(0xa5 ^ (p - room));
    memcpy(expected, room, (size_t)(room_end - room));
}
static int room_is_as_expected(void)
{
    return !memcmp(expected, room, (size_t)(room_end - room));
}
/* Returns the address in the copy that corresponds to p in the room. */
static void *copy_of(void *p)
{
    return expected + ((unsigned char *)p - room);
}

/* Makes numbers whose sums and products are exact in single precision. */
static void small_integers(case_random *random, double *x)
{
    for (int l = 0; l < MOST_LANES; l++) x[l] = case_below(random, 2001) - 1000;
}

static int short_tests(void)
{
    return check_short();
}

#define REAL float
#define PRECISION f32
#define IS_FLOAT 1
#define EPSILON FLT_EPSILON
#define SMALLEST FLT_MIN
#define LARGEST FLT_MAX
#define SET plain
#define ISA CPU_AVX_PLAIN
#define ULPS 0.5
#include "test_cpu_vec.c"
/* The errors allowed in reciprocals. The approximation is specified to 1.5 * 2^-12. The correction removes the error
   and its square and leaves its cube, a 10000th of an ulp, so nearly all of the error is rounding the result, half an
   ulp. Without FMA the product that is nearly one is rounded too, which adds an ulp. */
#if CPU_AVX_X86
#define SET avx
#define ISA CPU_AVX_AVX
#define ULPS 1.61
#include "test_cpu_vec.c"
#define SET avx2
#define ISA CPU_AVX_AVX2
#define ULPS 0.51
#include "test_cpu_vec.c"
#define SET avx512 /* 2^-14, so 1/16 ulp */
#define ISA CPU_AVX_AVX512
#define ULPS 0.6
#include "test_cpu_vec.c"
#elif CPU_AVX_ARM
#define SET neon /* divides */
#define ISA CPU_AVX_NEON
#define ULPS 0.5
#include "test_cpu_vec.c"
#endif
#undef REAL
#undef PRECISION
#undef IS_FLOAT
#undef EPSILON
#undef SMALLEST
#undef LARGEST

#define REAL double
#define PRECISION f64
#define IS_FLOAT 0
#define EPSILON DBL_EPSILON
#define SMALLEST DBL_MIN
#define LARGEST DBL_MAX
#define SET plain
#define ISA CPU_AVX_PLAIN
#define ULPS 0
#include "test_cpu_vec.c"
#if CPU_AVX_X86
#define SET avx
#define ISA CPU_AVX_AVX
#define ULPS 0
#include "test_cpu_vec.c"
#define SET avx2
#define ISA CPU_AVX_AVX2
#define ULPS 0
#include "test_cpu_vec.c"
#define SET avx512
#define ISA CPU_AVX_AVX512
#define ULPS 0
#include "test_cpu_vec.c"
#elif CPU_AVX_ARM
#define SET neon
#define ISA CPU_AVX_NEON
#define ULPS 0
#include "test_cpu_vec.c"
#endif

static void test_sets(void)
{
    static const char *const names[] = {"plain", "avx", "avx2", "avx512", "neon"};
    static const int lanes[CPU_AVX_ISAS][2] = {{4, 2}, {8, 4}, {8, 4}, {16, 8}, {4, 2}};
    CHECK(cpu_avx_has(CPU_AVX_PLAIN), "plain C must be there");
    CHECK(cpu_avx_has(cpu_avx_best()), "the best set must be there");
    for (int isa = -3; isa < CPU_AVX_ISAS + 3; isa++) {
        int known = isa >= 0 && isa < CPU_AVX_ISAS;
        CHECK(!strcmp(cpu_avx_name(isa), known ? names[isa] : "unknown"), "set %d is called %s", isa,
              cpu_avx_name(isa));
        CHECK(known || !cpu_avx_has(isa), "there is a set %d", isa);
        CHECK(!cpu_avx_has(isa) || isa <= cpu_avx_best(), "%d is better than the best", isa);
        if (!known || !cpu_avx_has(isa)) continue;
        CHECK(cpu_avx_width_f32(isa) == lanes[isa][0], "lanes f32 of %s", names[isa]);
        CHECK(cpu_avx_width_f64(isa) == lanes[isa][1], "lanes f64 of %s", names[isa]);
    }
    CHECK(cpu_avx_has(CPU_AVX_BUILT_FOR), "built for what this processor does not have");
    static const int status[] = {CPU_AVX_OK, CPU_AVX_BAD_ARGUMENT, CPU_AVX_BAD_ISA, 1, -77};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            CHECK(strcmp(cpu_avx_status_string(status[i]), cpu_avx_status_string(status[j])), "status %d reads as %d",
                  status[i], status[j]);
}

int main(void)
{
    open_room();
    expected = (unsigned char *)malloc((size_t)(room_end - room));
    if (!expected) return EXIT_FAILURE;
    cpu_skips();
    test_sets();
    for (int isa = cpu_first(); isa >= 0; isa = cpu_next(isa)) {
        if (isa == CPU_AVX_PLAIN) test_plain_f32(), test_plain_f64();
#if CPU_AVX_X86
        if (isa == CPU_AVX_AVX) test_avx_f32(), test_avx_f64();
        if (isa == CPU_AVX_AVX2) test_avx2_f32(), test_avx2_f64();
        if (isa == CPU_AVX_AVX512) test_avx512_f32(), test_avx512_f64();
#elif CPU_AVX_ARM
        if (isa == CPU_AVX_NEON) test_neon_f32(), test_neon_f64();
#endif
    }
    free(expected);
    return check_report();
}

#else /* SET: the body, for one precision and instruction set */

#define V(stem) NAME(stem, SET, PRECISION)
#define VEC V(cpu_avx_vec)
#define LANES V(cpu_avx_lanes)
#define TEST(stem) static TARGET_OF(SET) void V(stem)(void)
#define WHAT TEXT(SET, PRECISION)
#define END_OF_ROOM ((REAL *)(void *)room_end)

/* ---- to and from memory ------------------------------------------------------------------------------------------ */

TEST(test_move)
{
    REAL x[3 * MOST_LANES], y[MOST_LANES];
    for (int i = 0; i < 3 * MOST_LANES; i++) x[i] = (REAL)(i + 1);
    V(cpu_avx_store)(y, V(cpu_avx_set)((REAL)7.25));
    for (int l = 0; l < LANES; l++) CHECK(y[l] == (REAL)7.25, WHAT ": set, lane %d", l);
    for (int offset = 0; offset <= LANES; offset++) {
        V(cpu_avx_store)(y, V(cpu_avx_load)(x + offset));
        for (int l = 0; l < LANES; l++) CHECK(y[l] == x[offset + l], WHAT ": load from %d, lane %d", offset, l);
        REAL *to[2] = {(REAL *)(void *)room + offset, END_OF_ROOM - LANES - offset};
        for (int i = 0; i < 2; i++) {
            fill_room();
            memcpy(copy_of(to[i]), x, LANES * sizeof(REAL));
            V(cpu_avx_store)(to[i], V(cpu_avx_load)(x));
            CHECK(room_is_as_expected(), WHAT ": store to %d", offset);
        }
    }
    for (int vector = 0; vector < 3; vector++) { /* pages are aligned to vectors, so that streaming is allowed */
        REAL *to = END_OF_ROOM - (vector + 1) * LANES;
        fill_room();
        memcpy(copy_of(to), x, LANES * sizeof(REAL));
        V(cpu_avx_stream)(to, V(cpu_avx_load)(x));
        CHECK(room_is_as_expected(), WHAT ": stream");
    }
}

TEST(test_move_part)
{
    REAL x[MOST_LANES], y[MOST_LANES];
    for (int i = 0; i < MOST_LANES; i++) x[i] = (REAL)(i + 1);
    for (int n = 0; n <= LANES; n++) {
        for (int before = 0; before <= LANES; before++) {
            /* Some or all of the lanes that are not asked for lie beyond the room. */
            REAL *at = END_OF_ROOM - n - (before < LANES ? before : (room_end - room) / (int)sizeof(REAL) - n);
            fill_room();
            memcpy(at, x, (size_t)n * sizeof(REAL));
            V(cpu_avx_store)(y, V(cpu_avx_load_part)(at, n));
            for (int l = 0; l < LANES; l++)
                CHECK(y[l] == (l < n ? x[l] : 0), WHAT ": load_part of %d, %d more, lane %d", n, before, l);
            fill_room();
            memcpy(copy_of(at), x, (size_t)n * sizeof(REAL));
            V(cpu_avx_store_part)(at, n, V(cpu_avx_load)(x));
            CHECK(room_is_as_expected(), WHAT ": store_part of %d, %d more", n, before);
        }
    }
}

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

TEST(test_arithmetic)
{
    case_random random = {SEED};
    REAL x[3][MOST_LANES], y[6][MOST_LANES];
    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < 3; i++)
            for (int l = 0; l < LANES; l++)
                x[i][l] = (REAL)ldexp(case_between(&random, -2, 2), case_below(&random, 20));
        VEC a = V(cpu_avx_load)(x[0]), b = V(cpu_avx_load)(x[1]);
        V(cpu_avx_store)(y[0], a + b);
        V(cpu_avx_store)(y[1], a - b);
        V(cpu_avx_store)(y[2], a * b);
        V(cpu_avx_store)(y[3], a / b);
        for (int l = 0; l < LANES; l++) {
            CHECK(y[0][l] == x[0][l] + x[1][l], WHAT ": add, lane %d", l);
            CHECK(y[1][l] == x[0][l] - x[1][l], WHAT ": sub, lane %d", l);
            CHECK(y[2][l] == x[0][l] * x[1][l], WHAT ": mul, lane %d", l);
            CHECK(y[3][l] == x[0][l] / x[1][l], WHAT ": div, lane %d", l);
        }
        if (round % 5 == 0) x[1][round % LANES] = x[0][round % LANES]; /* equal numbers, too */
        b = V(cpu_avx_load)(x[1]);
        V(cpu_avx_store)(y[0], V(cpu_avx_min)(a, b));
        V(cpu_avx_store)(y[1], V(cpu_avx_max)(a, b));
        V(cpu_avx_store)(y[2], V(cpu_avx_select)(a, b, V(cpu_avx_load)(x[2]), a));
        V(cpu_avx_store)(y[3], V(cpu_avx_sqrt)(a * a));
        V(cpu_avx_store)(y[4], V(cpu_avx_sqrt)(V(cpu_avx_max)(a, V(cpu_avx_set)(0))));
        for (int l = 0; l < LANES; l++) {
            int less = x[0][l] < x[1][l];
            CHECK(y[0][l] == (less ? x[0][l] : x[1][l]), WHAT ": min, lane %d", l);
            CHECK(y[1][l] == (less ? x[1][l] : x[0][l]), WHAT ": max, lane %d", l);
            CHECK(y[2][l] == (less ? x[2][l] : x[0][l]), WHAT ": select, lane %d", l);
            CHECK(fabs((double)y[3][l] - fabs((double)x[0][l])) <= (double)EPSILON * fabs((double)x[0][l]),
                  WHAT ": sqrt of a square, lane %d", l);
            CHECK(y[4][l] == (REAL)sqrt(x[0][l] > 0 ? (double)x[0][l] : 0), WHAT ": sqrt, lane %d", l);
        }
    }
    /* If one operand is NaN, the result is the second, as in x86's instructions. */
    V(cpu_avx_store)(y[0], V(cpu_avx_min)(V(cpu_avx_set)((REAL)NAN), V(cpu_avx_set)(3)));
    V(cpu_avx_store)(y[1], V(cpu_avx_max)(V(cpu_avx_set)((REAL)NAN), V(cpu_avx_set)(3)));
    for (int l = 0; l < LANES; l++) CHECK(y[0][l] == 3 && y[1][l] == 3, WHAT ": min or max of NaN and 3, lane %d", l);
    V(cpu_avx_store)(y[0], V(cpu_avx_min)(V(cpu_avx_set)(3), V(cpu_avx_set)((REAL)NAN)));
    V(cpu_avx_store)(y[1], V(cpu_avx_max)(V(cpu_avx_set)(3), V(cpu_avx_set)((REAL)NAN)));
    for (int l = 0; l < LANES; l++)
        CHECK(isnan(y[0][l]) && isnan(y[1][l]), WHAT ": min or max of 3 and NaN, lane %d", l);
    for (int lane = 0; lane < LANES; lane++) {
        for (int l = 0; l < LANES; l++) x[0][l] = (REAL)(l == lane ? 1000 : l);
        CHECK(V(cpu_avx_sum)(V(cpu_avx_load)(x[0])) == (REAL)(1000 - lane + LANES * (LANES - 1) / 2),
              WHAT ": sum, lane %d", lane);
    }
}

/* The product and sum of small integers are exact, so it does not matter how often they are rounded. */
TEST(test_fma)
{
    case_random random = {SEED};
    double wide[3][MOST_LANES];
    REAL x[3][MOST_LANES], y[2][MOST_LANES];
    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < 3; i++) {
            small_integers(&random, wide[i]);
            for (int l = 0; l < LANES; l++) x[i][l] = (REAL)wide[i][l];
        }
        VEC a = V(cpu_avx_load)(x[0]), b = V(cpu_avx_load)(x[1]), c = V(cpu_avx_load)(x[2]);
        V(cpu_avx_store)(y[0], V(cpu_avx_fma)(a, b, c));
        V(cpu_avx_store)(y[1], V(cpu_avx_fnma)(a, b, c));
        for (int l = 0; l < LANES; l++) {
            double product = wide[0][l] * wide[1][l];
            CHECK((double)y[0][l] == wide[2][l] + product, WHAT ": fma, lane %d", l);
            CHECK((double)y[1][l] == wide[2][l] - product, WHAT ": fnma, lane %d", l);
        }
    }
    /* (1 + e)(1 - e) is exactly 1 - e^2, and 1 if rounded. In plain C the compiler may fuse it. */
    double square = (double)EPSILON * (double)EPSILON;
    VEC more = V(cpu_avx_set)(1 + EPSILON), less = V(cpu_avx_set)(1 - EPSILON), one = V(cpu_avx_set)(1);
    V(cpu_avx_store)(y[0], V(cpu_avx_fma)(more, less, V(cpu_avx_set)(-1)));
    V(cpu_avx_store)(y[1], V(cpu_avx_fnma)(more, less, one));
    for (int l = 0; l < LANES; l++) {
        int once = (double)y[0][l] == -square && (double)y[1][l] == square, twice = y[0][l] == 0 && y[1][l] == 0;
        CHECK(once || (ISA < CPU_AVX_AVX2 && twice), WHAT ": fma of lane %d gives %g", l, (double)y[0][l]);
    }
}

/* ---- the reciprocal ---------------------------------------------------------------------------------------------- */

/* Returns the largest error of 1 / (2^exponent m) over `count` significands 1 <= m < 2, a step apart, in ulp of a
   result just below a power of two (half an ulp of that power itself); also computes the mean error. */
static TARGET_OF(SET) double V(worst_reciprocal)(long long first, long long step, long long count, int exponent,
                                                 double *mean)
{
    double worst = 0, sum = 0, scale = ldexp(1, exponent);
    REAL x[MOST_LANES], y[MOST_LANES];
    for (long long i = 0; i < count; i += LANES) {
        for (int l = 0; l < LANES; l++) x[l] = (REAL)((1 + (double)(first + (i + l) * step) * (double)EPSILON) * scale);
        V(cpu_avx_store)(y, V(cpu_avx_rcp)(V(cpu_avx_load)(x)));
        for (int l = 0; l < LANES; l++) {
            double want = 1 / (double)x[l], error = ((double)y[l] - want) * scale * 2 / (double)EPSILON;
            if (!(fabs(error) <= worst)) worst = fabs(error);
            sum += error;
        }
    }
    *mean = sum / (double)((count + LANES - 1) / LANES * LANES);
    return worst;
}

TEST(test_reciprocal)
{
    case_random random = {SEED};
    int exponents = IS_FLOAT ? 126 : 1022;
    long long significands = IS_FLOAT ? 1 << 23 : 1 << 16, step = short_tests() ? 4095 : 1;
    double worst, mean, other;
    /* In double precision the reciprocal is a division, so it differs from the reference by 0. */
    if (IS_FLOAT)
        worst = V(worst_reciprocal)(0, step, significands / step, 0, &mean);
    else
        worst = V(worst_reciprocal)(1, (1LL << 52) / (significands / step), significands / step, 0, &mean);
    for (int exponent = -exponents; exponent <= exponents - 1; exponent += short_tests() ? 17 : 1) {
        long long first = case_below(&random, 1 << 12);
        double here = IS_FLOAT ? V(worst_reciprocal)(first, (1 << 11) - 1, 1 << 12, exponent, &other)
                               : V(worst_reciprocal)(first, (1LL << 43) - 1, 1 << 9, exponent, &other);
        if (!(here <= worst)) worst = here;
    }
    printf(WHAT ": reciprocal within %.3f ulp, %.4f in the mean\n", worst, mean);
    CHECK(worst <= ULPS, WHAT ": reciprocal is off by %g ulp", worst);
    /* Over a march of thousands of steps, errors of always the same sign would add up. */
    CHECK(fabs(mean) <= (short_tests() ? 0.05 : 0.01), WHAT ": reciprocals are off by %g ulp in the mean", mean);
    /* Each lane must get the reciprocal of its own number. */
    REAL y[MOST_LANES], x[MOST_LANES];
    for (int l = 0; l < LANES; l++) x[l] = (REAL)(l % 2 ? -(l + 1) : l + 1);
    V(cpu_avx_store)(y, V(cpu_avx_rcp)(V(cpu_avx_load)(x)));
    for (int l = 0; l < LANES; l++)
        check_near((double)y[l] * (double)x[l], 1, 5 * (double)EPSILON, WHAT ": reciprocal of %g", (double)x[l]);
}

/* ---- pivots ------------------------------------------------------------------------------------------------------ */

/* Every bad pivot is reported, or else its reciprocal is right. */
TEST(test_pivots)
{
    const REAL inf = (REAL)INFINITY, nan = (REAL)NAN,
               odd[] = {0,
                        -(REAL)0,
                        inf,
                        -inf,
                        nan,
                        SMALLEST * EPSILON,
                        -SMALLEST * EPSILON,
                        SMALLEST / 4,
                        SMALLEST / 2,
                        LARGEST,
                        LARGEST / 2,
                        -LARGEST / 3,
                        LARGEST / 4};
    enum { ODD = sizeof odd / sizeof odd[0], MUST_FAIL = 5 };
    REAL x[MOST_LANES], y[MOST_LANES];
    for (int lane = 0; lane < LANES; lane++) {
        for (int i = 0; i < ODD; i++) {
            for (int when = 0; when < 3; when++) {
                VEC sound = V(cpu_avx_set)(0);
                int reported;
                for (int row = 0; row < 3; row++) {
                    for (int l = 0; l < LANES; l++)
                        x[l] = row == when && l == lane ? odd[i] : (REAL)(3 - 2 * row + l % 2);
                    for (int l = 0; l < LANES; l++)
                        if (x[l] == 0 && !(row == when && l == lane)) x[l] = 5;
                    VEC pivot = V(cpu_avx_load)(x), reciprocal = V(cpu_avx_rcp)(pivot);
                    sound = V(cpu_avx_check)(sound, pivot, reciprocal);
                    if (row == when) V(cpu_avx_store)(y, reciprocal);
                }
                reported = V(cpu_avx_worst)(sound);
                CHECK(reported == lane || (reported == LANES && i >= MUST_FAIL), WHAT ": %g in lane %d reported as %d",
                      (double)odd[i], lane, reported);
                /* A subnormal reciprocal is rounded to a subnormal. */
                if (reported == LANES)
                    CHECK(fabs((double)y[lane] - 1 / (double)odd[i]) <=
                              4 * (double)EPSILON * fabs(1 / (double)odd[i]) + (double)(SMALLEST * EPSILON),
                          WHAT ": 1 / %g gives %g and is not reported", (double)odd[i], (double)y[lane]);
            }
        }
        /* Only the pivot, or only the reciprocal, is bad; of several bad lanes the first is reported. */
        for (int i = 0; i < MUST_FAIL; i++) {
            for (int l = 0; l < LANES; l++) y[l] = l >= lane ? odd[i] : 1;
            VEC zero = V(cpu_avx_set)(0), one = V(cpu_avx_set)(1), bad = V(cpu_avx_load)(y);
            int by_pivot = V(cpu_avx_worst)(V(cpu_avx_check)(zero, bad, one));
            int by_reciprocal = V(cpu_avx_worst)(V(cpu_avx_check)(zero, one, bad));
            CHECK(by_pivot == lane && by_reciprocal == lane, WHAT ": %g from lane %d on reported as %d and %d",
                  (double)odd[i], lane, by_pivot, by_reciprocal);
        }
    }
    /* Very many good pivots of all sizes. */
    case_random random = {SEED};
    VEC sound = V(cpu_avx_set)(0);
    for (int row = 0; row < (short_tests() ? 1000 : 100000); row++) {
        for (int l = 0; l < LANES; l++)
            x[l] = (REAL)ldexp(case_between(&random, 1, 2),
                               case_below(&random, IS_FLOAT ? 250 : 2040) - (IS_FLOAT ? 125 : 1020));
        VEC pivot = V(cpu_avx_load)(x);
        sound = V(cpu_avx_check)(sound, pivot, V(cpu_avx_rcp)(pivot));
    }
    CHECK(V(cpu_avx_worst)(sound) == LANES, WHAT ": good pivots reported");
}

/* ---- moves between lanes ----------------------------------------------------------------------------------------- */

/* A macro, because s must be a literal in the calls. */
#define CHECK_SHIFT(s)                                                                                                 \
    do {                                                                                                               \
        REAL up[MOST_LANES], down[MOST_LANES];                                                                         \
        V(cpu_avx_store)(up, V(cpu_avx_up)(a, b, s));                                                                  \
        V(cpu_avx_store)(down, V(cpu_avx_down)(a, b, s));                                                              \
        for (int l = 0; l < LANES; l++) {                                                                              \
            CHECK(up[l] == x[LANES - (s) + l], WHAT ": up by %d, lane %d", s, l);                                      \
            CHECK(down[l] == x[l + (s)], WHAT ": down by %d, lane %d", s, l);                                          \
        }                                                                                                              \
    } while (0)

TEST(test_shifts)
{
    REAL x[2 * MOST_LANES], y[MOST_LANES];
    for (int i = 0; i < 2 * MOST_LANES; i++) x[i] = (REAL)(i + 1);
    VEC a = V(cpu_avx_load)(x), b = V(cpu_avx_load)(x + LANES);
    CHECK_SHIFT(1);
    if (LANES > 2) {
        CHECK_SHIFT(LANES > 2 ? 2 : 1);
        CHECK_SHIFT(LANES > 2 ? 3 : 1);
    }
    if (LANES > 4) {
        CHECK_SHIFT(LANES > 4 ? 4 : 1);
        CHECK_SHIFT(LANES > 4 ? 5 : 1);
        CHECK_SHIFT(LANES > 4 ? 6 : 1);
        CHECK_SHIFT(LANES > 4 ? 7 : 1);
    }
    if (LANES > 8) {
        CHECK_SHIFT(LANES > 8 ? 8 : 1);
        CHECK_SHIFT(LANES > 8 ? 9 : 1);
        CHECK_SHIFT(LANES > 8 ? 10 : 1);
        CHECK_SHIFT(LANES > 8 ? 11 : 1);
        CHECK_SHIFT(LANES > 8 ? 12 : 1);
        CHECK_SHIFT(LANES > 8 ? 13 : 1);
        CHECK_SHIFT(LANES > 8 ? 14 : 1);
        CHECK_SHIFT(LANES > 8 ? 15 : 1);
    }
    V(cpu_avx_store)(y, V(cpu_avx_rotate_up)(a));
    for (int l = 0; l < LANES; l++) CHECK(y[l] == x[(l + LANES - 1) % LANES], WHAT ": rotate_up, lane %d", l);
    V(cpu_avx_store)(y, V(cpu_avx_rotate_down)(a));
    for (int l = 0; l < LANES; l++) CHECK(y[l] == x[(l + 1) % LANES], WHAT ": rotate_down, lane %d", l);
}

TEST(test_transpose)
{
    VEC v[LANES];
    REAL x[MOST_LANES];
    for (int i = 0; i < LANES; i++) {
        for (int l = 0; l < LANES; l++) x[l] = (REAL)(100 * i + l);
        v[i] = V(cpu_avx_load)(x);
    }
    V(cpu_avx_transpose)(v);
    for (int i = 0; i < LANES; i++) {
        V(cpu_avx_store)(x, v[i]);
        for (int l = 0; l < LANES; l++) CHECK(x[l] == (REAL)(100 * l + i), WHAT ": transpose, %d of %d", l, i);
    }
}

/* Checks a tile whose last element is the room's last, or whose first element is the room's first. */
static TARGET_OF(SET) void V(check_tile)(int rows, int columns, int pitch, int at_end)
{
    VEC v[LANES];
    REAL x[MOST_LANES];
    int extent = rows ? (rows - 1) * pitch + columns : 0;
    REAL *tile = at_end ? END_OF_ROOM - extent : (REAL *)(void *)room;
    fill_room();
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < columns; i++) tile[row * pitch + i] = (REAL)(100 * row + i + 1);
    V(cpu_avx_load_tile)(tile, pitch, rows, columns, v);
    int right = 1;
    for (int i = 0; i < LANES; i++) {
        V(cpu_avx_store)(x, v[i]);
        for (int l = 0; l < LANES; l++) right &= x[l] == (l < rows && i < columns ? (REAL)(100 * l + i + 1) : 0);
    }
    CHECK(right, WHAT ": load_tile of %d x %d, pitch %d", rows, columns, pitch);

    fill_room();
    for (int i = 0; i < LANES; i++) {
        for (int l = 0; l < MOST_LANES; l++) x[l] = (REAL)(100 * i + l + 7);
        for (int l = 0; l < rows; l++)
            if (i < columns) ((REAL *)copy_of(tile))[l * pitch + i] = x[l];
        v[i] = V(cpu_avx_load)(x);
    }
    V(cpu_avx_store_tile)(tile, pitch, rows, columns, v);
    CHECK(room_is_as_expected(), WHAT ": store_tile of %d x %d, pitch %d", rows, columns, pitch);
}

TEST(test_tiles)
{
    for (int rows = 0; rows <= LANES; rows++) {
        for (int columns = 0; columns <= LANES; columns++) {
            const int pitches[] = {columns, columns + 1, LANES, LANES + 3, 2 * LANES + 1};
            for (int i = 0; i < 5; i++)
                for (int at_end = 0; at_end < 2; at_end++) V(check_tile)(rows, columns, pitches[i], at_end);
        }
    }
}

TEST(test)
{
    V(test_move)();
    V(test_move_part)();
    V(test_arithmetic)();
    V(test_fma)();
    V(test_reciprocal)();
    V(test_pivots)();
    V(test_shifts)();
    V(test_transpose)();
    V(test_tiles)();
}

#undef V
#undef VEC
#undef LANES
#undef TEST
#undef WHAT
#undef END_OF_ROOM
#undef CHECK_SHIFT
#undef SET
#undef ISA
#undef ULPS
#endif
