#!/bin/sh
# headers.sh - compiles every header of the kit in the ways in which users include it: alone, twice, in a folder, in
# several files of one program, among their own macros, inside extern "C", with -ffast-math; as C11, C17 and later,
# C++17 and C++20, by gcc and by clang. It also checks that functions that are not called cost nothing. tests/costs.sh
# tries the headers as CUDA.
#
#     tests/headers.sh          by gcc
#     tests/headers.sh clang    by clang and clang++
#
# Run from the top folder. CC and CXX name the compilers.

name=headers$1
. tests/check.sh

c_flags='-std=c11 -Wall -Wextra -Wpedantic -Werror'
cxx_flags='-std=c++17 -Wall -Wextra -Wpedantic -Werror'

. "$top"/tests/macros.sh

# Checks that -ffast-math must not optimise away: a zero or infinite pivot is reported, and NaN is no number.
cat >status.c <<'END'
#include "trid.h"
#include "trid/pivoted.h"

int main(int argc, char **argv)
{
    /* Zero, infinity and NaN by their bits, from a number that the compiler does not know. */
    unsigned long long bits[3] = {0, 0x7ff0000000000000u, 0x7ff8000000000000u};
    double bad[3];
    for (int i = 0; i < 3; i++) bits[i] *= (unsigned)argc;
    memcpy(bad, bits, sizeof bad);
    (void)argv;
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < 3; i++) {
            float af[3] = {0, 0, 0}, bf[3] = {1, 1, 1}, xf[3], workf[32];
            double ad[3] = {0, 0, 0}, bd[3] = {1, 1, 1}, xd[3], workd[32];
            bf[row] = (float)(bd[row] = bad[i]);
            if (trid_host_thomas_f32(3, af, bf, af, bf, xf, workf) != 1 + row) return 1;
            if (trid_host_thomas_f64(3, ad, bd, ad, bd, xd, workd) != 1 + row) return 2;
            if (trid_host_pcr_f32(3, af, bf, af, bf, xf, workf) != 1 + row) return 3;
            if (trid_host_pcr_f64(3, ad, bd, ad, bd, xd, workd) != 1 + row) return 4;
            if (trid_host_hybrid_f32(3, 2, af, bf, af, bf, xf, workf) <= 0) return 5;
            if (trid_host_hybrid_f64(3, 2, ad, bd, ad, bd, xd, workd) <= 0) return 6;
            if (trid_host_pivoted_f32(3, 2, af, bf, af, bf, xf, workf) <= 0) return 9;
            if (trid_host_pivoted_f64(3, 2, ad, bd, ad, bd, xd, workd) <= 0) return 10;
        }
    }
    double a[1] = {0}, b[1] = {1}, d[1] = {bad[2]}, x[1] = {0}, residual = trid_host_residual_f64(1, a, b, a, d, x);
    memcpy(bits, &residual, sizeof residual);
    if (bits[0] << 1 <= 0xffe0000000000000u) return 7;
    return trid_host_thomas_f64(1, a, b, a, b, x, d) == 0 ? 0 : 8;
}
END

# The same for problems with NaN among their numbers, or with NaN as the answer.
cat >problem.c <<'END'
#include "bs3d.h"

int main(int argc, char **argv)
{
    unsigned long long bits[3] = {0x7ff0000000000000u, 0xfff0000000000000u, 0x7ff8000000000000u};
    double bad[3], f64[64] = {0};
    float f32[64] = {0};
    for (int i = 0; i < 3; i++) bits[i] *= (unsigned)argc;
    memcpy(bad, bits, sizeof bad);
    (void)argv;
    bs3d_problem good = {{90, 100, 110}, {200, 210, 190}, {0.2, 0.3, 0.1}, {0, 0.01, 0.02}, {0.5, 0.4, 0.3},
                         100, 0.05, 0.1, {4, 5, 6}, 10, BS3D_MAXIMUM, 0};
    if (bs3d_check(&good, 0) != BS3D_OK || bs3d_check(&good, 1) != BS3D_OK) return 1;
    for (int n = 0; n < 18; n++)
        for (int i = 0; i < 3; i++) {
            bs3d_problem o = good;
            double *group[] = {o.spot, o.top, o.volatility, o.dividend, o.correlation};
            double *single[] = {&o.strike, &o.rate, &o.maturity};
            *(n < 15 ? &group[n / 3][n % 3] : single[n - 15]) = bad[i];
            if (bs3d_check(&o, 0) != BS3D_BAD_NUMBER || bs3d_check(&o, 1) != BS3D_BAD_NUMBER) return 2;
        }
    if (bs3d_lane_greeks_f32(&good, f32).status != BS3D_OK || bs3d_lane_greeks_f64(&good, f64).status != BS3D_OK)
        return 3;
    f64[21] = bad[2];
    unsigned bits_f32 = 0x7fc00000u * (unsigned)argc;
    memcpy(&f32[42], &bits_f32, sizeof bits_f32);
    if (bs3d_lane_greeks_f32(&good, f32).status != BS3D_NOT_FINITE) return 4;
    return bs3d_lane_greeks_f64(&good, f64).status == BS3D_NOT_FINITE ? 0 : 5;
}
END

# The same for coordinates, dates and averages.
cat >grid.c <<'END'
#include "pde/fd.h"

static double outside(const double *x, const void *none)
{
    (void)none;
    return *x;
}

int main(int argc, char **argv)
{
    unsigned long long bits[3] = {0x7ff0000000000000u, 0xfff0000000000000u, 0x7ff8000000000000u};
    double bad[3], x[5] = {0, 1, 2, 3, 4}, low[1] = {0}, high[1] = {1};
    for (int i = 0; i < 3; i++) bits[i] *= (unsigned)argc;
    memcpy(bad, bits, sizeof bad);
    (void)argv;
    for (int i = 0; i < 3; i++) {
        fd_axis axis = {0, 8, 100, 1, {1, 0, 0}, {0.2, 0, 0}, {FD_MIDWAY, 0, 0}};
        double *number[4] = {&axis.low, &axis.high, &axis.place[0], &axis.width[0]};
        fd_map map;
        for (int n = 0; n < 4; n++) {
            double kept = *number[n];
            *number[n] = bad[i];
            if (fd_axis_map(&axis, &map) != FD_BAD_NUMBER) return 1;
            *number[n] = kept;
        }
        if (fd_axis_map(&axis, &map) != FD_OK) return 2;
        for (int j = 0; j < 5; j++) {
            double kept = x[j];
            x[j] = bad[i];
            if (fd_grid_check(5, x) != 1 + j) return 3;
            x[j] = kept;
        }
        fd_weights weights;
        if (fd_interpolate(5, x, bad[i], &weights) != FD_OUTSIDE) return 4;
        double date[1] = {bad[i]};
        fd_times times = {1, 10, FD_GEOMETRIC, 2, FD_THETA, 0.5, 4, 1, date, 0};
        int count;
        if (fd_schedule(&times, 0, 0, &count) != 1) return 5;
        date[0] = 0.5;
        number[0] = &times.maturity, number[1] = &times.ratio, number[2] = &times.theta;
        for (int n = 0; n < 3; n++) {
            double kept = *number[n];
            *number[n] = bad[i];
            if (fd_schedule(&times, 0, 0, &count) != (n < 2 ? FD_BAD_NUMBER : FD_BAD_THETA)) return 6;
            *number[n] = kept;
        }
        fd_scheme scheme;
        if (fd_scheme_of(FD_DOUGLAS, bad[i], &scheme) != FD_BAD_THETA) return 7;
    }
    double theta;
    if (fd_scheme_theta_drift(FD_DOUGLAS, 2, 1, bad[2], &theta) != FD_BAD_NUMBER) return 10;
    /* Cells that overflow in single precision. */
    double close[5] = {-2, -1, 0, 1e-39 * argc, 1};
    int face[2] = {FD_LINEAR, FD_LINEAR};
    fd_cell_f32 cell[5];
    float far_of[2];
    if (fd_cells_f32(5, close, face, cell, far_of) != 3) return 8;
    double none = fd_average(4, low, high, outside, 0, 1e-9, 30, 0);
    memcpy(bits, &none, sizeof none);
    return bits[0] << 1 > 0xffe0000000000000u ? 0 : 9;
}
END

# The same for the vector sets, with a batch of two systems, the second with a bad pivot. Pivots here are also the
# smallest number, and the largest, whose reciprocal may underflow to zero. Where it does not, x must be right.
cat >pivots.c <<'END'
#include "cpu_avx.h"

static unsigned char work[1 << 18];

int main(int argc, char **argv)
{
    unsigned long long wide[5] = {0, 0x7ff0000000000000u, 0x7ff8000000000000u, 1, 0x7fefffffffffffffu};
    unsigned narrow[5] = {0, 0x7f800000u, 0x7fc00000u, 1, 0x7f7fffffu};
    double bad_f64[5];
    float bad_f32[5];
    for (int i = 0; i < 5; i++) wide[i] *= (unsigned)argc, narrow[i] *= (unsigned)argc;
    memcpy(bad_f64, wide, sizeof wide);
    memcpy(bad_f32, narrow, sizeof narrow);
    (void)argv;
    const cpu_avx_lines layouts[2] = {{3, 1, 2, 3, 1, 0}, {3, 2, 2, 1, 1, 0}};
    if (cpu_avx_thomas_bytes_f32(layouts, 1) > sizeof work || cpu_avx_thomas_bytes_f64(layouts, 1) > sizeof work) return 1;
    for (int isa = 0; isa < CPU_AVX_ISAS; isa++) {
        for (int n = 0; n < 2 * 3 * 5 && cpu_avx_has(isa); n++) {
            const cpu_avx_lines *lines = &layouts[n % 2];
            int at = (int)(lines->stride + n / 2 % 3 * lines->step), kind = n / 6, status;
            float af[6] = {0}, bf[6] = {1, 1, 1, 1, 1, 1}, xf[6];
            double ad[6] = {0}, bd[6] = {1, 1, 1, 1, 1, 1}, xd[6];
            if (cpu_avx_thomas_f32(isa, lines, af, bf, af, bf, xf, work, 1) != 0) return 2;
            if (cpu_avx_thomas_f64(isa, lines, ad, bd, ad, bd, xd, work, 1) != 0) return 3;
            bf[at] = bad_f32[kind], bd[at] = bad_f64[kind];
            status = cpu_avx_thomas_f32(isa, lines, af, bf, af, bf, xf, work, 1);
            if (status != 2 && !(status == 0 && kind == 4 && xf[at] > 0.5f)) return 4;
            status = cpu_avx_thomas_f64(isa, lines, ad, bd, ad, bd, xd, work, 1);
            if (status != 2 && !(status == 0 && kind == 4 && xd[at] > 0.5)) return 5;
        }
    }
    return 0;
}
END

# The same for a model's numbers.
cat >model.c <<'END'
#include "examples/heston_model.h"

static double memory[1 << 16];

int main(int argc, char **argv)
{
    unsigned long long bits[3] = {0x7ff0000000000000u, 0xfff0000000000000u, 0x7ff8000000000000u};
    double bad[3];
    for (int i = 0; i < 3; i++) bits[i] *= (unsigned)argc;
    memcpy(bad, bits, sizeof bad);
    (void)argv;
    const fd_axis price = {0, 300, 16, 0, {0}, {0}, {0}}, variance = {0, 0.5, 12, 0, {0}, {0}, {0}};
    const fd_times times = {1, 4, FD_EQUAL, 1, FD_THETA, 0.5, 0, 0, 0, 0};
    double spot[2] = {100, 0.04};
    fd_problem problem;
    fd_status status;
    fd_values values;
    memset(&problem, 0, sizeof problem);
    problem.axis[0] = price, problem.axis[1] = variance, problem.times = times, problem.spot = spot;
    const fd_batch batch = {1, {16, 12}, 4, 0, 1, &problem, &status, &values, 0, {0}, ADI2D_ONE_STAGE};
    const heston_parameters good = {100, 1.5, 0.04, 0.3, -0.5, 0.025, 0, 0};
    if (heston_host_bytes_f32(&batch, 1) > sizeof memory || heston_host_bytes_f64(&batch, 1) > sizeof memory) return 1;
    if (heston_host_f32(&batch, &good, 1, memory, sizeof memory) || status.what) return 2;
    if (heston_host_f64(&batch, &good, 1, memory, sizeof memory) || status.what) return 3;
    for (int i = 0; i < 3; i++) {
        heston_parameters p = good;
        double *number[2] = {&p.kappa, &p.rate};
        for (int n = 0; n < 2; n++) {
            double kept = *number[n];
            *number[n] = bad[i];
            if (heston_host_f32(&batch, &p, 1, memory, sizeof memory) || status.what != FD_MODEL_NAN) return 4 + n;
            if (heston_host_f64(&batch, &p, 1, memory, sizeof memory) || status.what != FD_MODEL_NAN) return 6 + n;
            *number[n] = kept;
        }
        spot[1] = bad[i];
        if (heston_host_f32(&batch, &good, 1, memory, sizeof memory) || status.what != FD_BAD_SPOT) return 8;
        spot[1] = 0.04;
    }
    return 0;
}
END

# And for a model of one factor: a spot, and with early exercise the values at faces and after changes.
cat >model1.c <<'END'
#include "pde/fd1d.h"
typedef struct {
    double face, change;
} put_parameters;
FD_NO_NUMBERS(put, x)
FD_NO_NUMBERS(put, t)
FD_TERMS(1, put, terms->drift[0] = (real)0.05 * x->at; terms->diffusion[0] = (real)0.02 * x->at * x->at;
         terms->kill = (real)0.05;)
enum { put_fitting = FD_CENTRAL };
FD_HD double put_payoff(const put_parameters *p, const double *at)
{
    (void)p;
    return at[0] > 100 ? 0 : 100 - at[0];
}
FD_HD double put_face(const put_parameters *p, int axis, int side, const double *at, double t)
{
    (void)axis, (void)at, (void)t;
    return side ? p->face : 100;
}
FD_HD double put_change(const put_parameters *p, int date, const double *at, double value)
{
    return value + (date == 0 && at[0] > 150 ? p->change : 0);
}
#define FD_MODEL_FACE
#define FD_MODEL_CHANGE
#define FD_MODEL put
#include "pde/fd1d.h"

static double memory[1 << 16];

int main(int argc, char **argv)
{
    unsigned long long bits = 0x7ff8000000000000u * (unsigned)argc;
    double bad, spot = 100, date[1] = {0.5};
    memcpy(&bad, &bits, sizeof bad);
    (void)argv;
    const fd_date change[1] = {{FD_CHANGE_VALUES, 0, 0}};
    const put_parameters good = {0, 0}, face = {bad, 0}, changed = {0, bad};
    for (int exercise = 0; exercise < 3; exercise++) {
        const fd_axis price = {0, 200, 41, 0, {0}, {0}, {0}};
        const fd_times times = {1, 50, FD_EQUAL, 1, FD_THETA, 0, 4, 1, date, 0};
        fd_problem problem;
        fd_status status;
        fd_values values[2];
        fd_batch batch;
        memset(&problem, 0, sizeof problem), memset(&batch, 0, sizeof batch);
        problem.axis[0] = price, problem.times = times, problem.at_date = change, problem.spot = &spot;
        problem.exercise = exercise, problem.face[0][0] = problem.face[0][1] = FD_VALUE;
        batch.problems = batch.spots = batch.dates = 1, batch.points[0] = 41, batch.steps = 58;
        batch.problem = &problem, batch.status = &status, batch.values = values;
        if (put_host_bytes_f64(&batch, 1) > sizeof memory) return 1;
        if (put_host_f64(&batch, &good, 1, memory, sizeof memory) || status.what) return 2;
        if (put_host_f64(&batch, &face, 1, memory, sizeof memory) || status.what != FD_NOT_SOLVED) return 3;
        if (put_host_f32(&batch, &face, 1, memory, sizeof memory) || status.what != FD_NOT_SOLVED) return 4;
        if (put_host_f64(&batch, &changed, 1, memory, sizeof memory) || status.what != FD_NOT_SOLVED) return 5;
        if (put_host_f32(&batch, &changed, 1, memory, sizeof memory) || status.what != FD_NOT_SOLVED) return 6;
        spot = bad;
        if (put_host_f64(&batch, &good, 1, memory, sizeof memory) || status.what != FD_BAD_SPOT) return 7;
        if (put_host_f32(&batch, &good, 1, memory, sizeof memory) || status.what != FD_BAD_SPOT) return 8;
        spot = 100;
    }
    return 0;
}
END

# And for a model with three factors, whose terms use every member.
cat >basket_model.h <<'END'
#ifndef BASKET_MODEL_H
#define BASKET_MODEL_H
#include "pde/adi3d.h"
typedef struct {
    double volatility, correlation, rate, strike;
} basket_parameters;
FD_NO_NUMBERS(basket, x)
FD_NO_NUMBERS(basket, y)
FD_NO_NUMBERS(basket, z)
FD_NUMBERS(basket, t, rate, half_square, mixed)
FD_HD void basket_of_t(const basket_parameters *p, double at, basket_t_f64 *t)
{
    const double square = p->volatility * p->volatility;
    (void)at, t->rate = p->rate, t->half_square = square / 2, t->mixed = p->correlation * square;
}
FD_TERMS(3, basket, terms->drift[0] = t->rate * x->at; terms->drift[1] = t->rate * y->at;
         terms->drift[2] = t->rate * z->at; terms->diffusion[0] = t->half_square * x->at * x->at;
         terms->diffusion[1] = t->half_square * y->at * y->at; terms->diffusion[2] = t->half_square * z->at * z->at;
         terms->mixed[0] = t->mixed * x->at * y->at; terms->mixed[1] = t->mixed * x->at * z->at;
         terms->mixed[2] = t->mixed * y->at * z->at; terms->kill = t->rate; terms->source = 0 * t->rate;)
enum { basket_fitting = FD_FITTED };
FD_HD double basket_payoff(const basket_parameters *p, const double *at)
{
    double gain = (at[0] + at[1] + at[2]) / 3 - p->strike;
    return gain > 0 ? gain : 0;
}
#define FD_MODEL_MIXED 7
#define FD_MODEL_STEADY 7
#define FD_MODEL basket
#include "pde/adi3d.h"
#endif
END
cat >model3.c <<'END'
#include "basket_model.h"

static double memory[1 << 18];

int main(int argc, char **argv)
{
    unsigned long long bits[3] = {0x7ff0000000000000u, 0xfff0000000000000u, 0x7ff8000000000000u};
    double bad[3];
    for (int i = 0; i < 3; i++) bits[i] *= (unsigned)argc;
    memcpy(bad, bits, sizeof bad);
    (void)argv;
    const fd_axis price = {0, 300, 9, 0, {0}, {0}, {0}};
    const fd_times times = {1, 4, FD_EQUAL, 1, FD_THETA, 0.75, 0, 0, 0, 0};
    double spot[3] = {100, 100, 100};
    fd_problem problem;
    fd_status status;
    fd_values values;
    memset(&problem, 0, sizeof problem);
    for (int d = 0; d < 3; d++) problem.axis[d] = price;
    problem.times = times, problem.spot = spot;
    const fd_batch batch = {1, {9, 9, 9}, 4, 0, 1, &problem, &status, &values, 0, {0}, 0};
    const basket_parameters good = {0.2, 0.5, 0.05, 100};
    if (basket_host_bytes_f32(&batch, 1) > sizeof memory || basket_host_bytes_f64(&batch, 1) > sizeof memory) return 1;
    if (basket_host_f32(&batch, &good, 1, memory, sizeof memory) || status.what) return 2;
    if (basket_host_f64(&batch, &good, 1, memory, sizeof memory) || status.what) return 3;
    for (int i = 0; i < 3; i++) {
        basket_parameters p = good;
        p.volatility = bad[i];
        if (basket_host_f32(&batch, &p, 1, memory, sizeof memory) || status.what != FD_MODEL_NAN) return 4;
        if (basket_host_f64(&batch, &p, 1, memory, sizeof memory) || status.what != FD_MODEL_NAN) return 5;
        spot[2] = bad[i];
        if (basket_host_f64(&batch, &good, 1, memory, sizeof memory) || status.what != FD_BAD_SPOT) return 6;
        spot[2] = 100;
    }
    return 0;
}
END

headers=$(kit_headers)

# each_alone: compiles each header alone (without the rest of the kit, if it says that it needs none), in a folder that
# the compiler knows only by the path in the #include. A program that uses nothing of it must be the empty one. The
# objects are alone/STEM.o, without a main.
each_alone() {
    echo 'int main(void) { return 0; }' >empty.$suffix
    check "$language: the empty program" compile empty.$suffix $compiler $flags $level
    rm -rf alone && mkdir alone
    for header in $headers; do
        stem=$(echo ${header%.h} | tr / _)
        rm -rf folder && mkdir -p folder/$(dirname $header) && cp "$top/$header" folder/$header
        if grep -q 'includes nothing else of the kit' "$top/$header"; then
            cp -r "$top/${header%.h}" folder/
        elif ! grep -q 'includes nothing of the kit' "$top/$header"; then
            copy_kit folder
        fi
        printf '#include "folder/%s"\nint main(void) { return 0; }\n' "$header" >alone.$suffix
        conversions=
        [ $header != cpu_avx.h ] || conversions='-Wconversion -Wsign-conversion'
        [ $header$suffix != cpu_avx.hcc ] || conversions="$conversions -std=c++11" # the oldest that it promises
        check "$language: $header alone" compile alone.$suffix $compiler $flags $conversions $level
        check "$language: a program that uses nothing of $header is the empty one" \
            diff empty.$suffix.has alone.$suffix.has
        check "$language: $header gives an object" objcopy --redefine-sym main=alone_$stem alone.$suffix.o \
            alone/$stem.o
    done
}

# all_together: compiles to together.o all headers twice, and models, which instantiate pde/adi2d.h and pde/adi3d.h,
# among a user's macros and macros with the headers' own names, by the newest standard, and in C++ inside extern "C".
all_together() {
    {
        echo '#include "macros.h"'
        echo '#include "names.h"'
        [ $suffix = c ] || echo 'extern "C" {'
        printf '#include "%s"\n' $headers $headers
        cat models.h
        [ $suffix = c ] || echo '}'
        echo '#include "names_still.h"'
        echo 'U sum(void);'
        echo 'U sum(void) { return N + W + K; }'
    } >together.$suffix
    check "$language: all headers, twice, among macros, as $newest" \
        compile together.$suffix $compiler $flags -O2 -std=$newest -I"$top"
}

# in_two_files: two objects with the same headers and models must link to a program, and models must cost nothing
in_two_files() {
    { cat models.h && echo 'int main(void) { return 0; }'; } >models.$suffix
    check "$language: models" compile models.$suffix $compiler $flags -Wconversion -O2 -I"$top"
    check "$language: the empty program, optimised" compile empty.$suffix $compiler $flags -O2
    check "$language: a program that uses nothing of its models is the empty one" \
            diff empty.$suffix.has models.$suffix.has
    check "$language: headers and models in several files of one program" $compiler -o several models.$suffix.o \
        together.$suffix.o alone/*.o -lm
}

# without_ieee: checks that -ffast-math must not optimise away. The short run compiles them only as C, and models
# without optimisation, since even the compiler's first pass assumes that there is no NaN.
without_ieee() {
    for program in status problem grid model1 model model3 pivots; do
        level=-O3
        case $program,$SHORT_TESTS,$suffix in
        pivots,,*) level=-O1 ;; # a matter of seconds, with four instruction sets
        pivots,*) continue ;;
        model*,,cc) level=-O1 ;; # the same text
        model*,?*) level=-O0 ;;
        esac
        check "$language: $program under -ffast-math" sh -c \
            "cp $program.c ${program}_of.$suffix &&
             $compiler $flags $level -ffast-math -I'$top' -o $program ${program}_of.$suffix -lm && ./$program"
    done
}

# without_macro: a function of a model whose macro is not defined must not compile.
without_macro() {
    for function in face change exercise; do
        case $function in
        face) sed '/^#define FD_MODEL_FACE/d' model1.c ;;
        *) sed "/^#define FD_MODEL_CHANGE/d; s/put_change/put_$function/" model1.c ;;
        esac >without.$suffix
        check "$language: MODEL_$function without its macro" sh -c \
            "! $compiler $flags -I'$top' -fsyntax-only without.$suffix >said 2>&1 &&
             grep -q 'put_$function.* as different kind' said"
    done
}

# in_language COMPILER FLAGS LEVEL SUFFIX NEWEST-STANDARD
in_language() {
    compiler=$1 flags=$2 level=$3 suffix=$4 newest=$5 language="$1, $4"
    each_alone
    all_together
    in_two_files
    without_macro
    if [ -n "$SHORT_TESTS" ] && [ $suffix != c ]; then
        skip "$compiler with -ffast-math: SHORT_TESTS is set"
    else
        without_ieee
    fi
}

models="$(cd "$top" && ls examples/*_model.h) basket_model.h"
printf '#include "%s"\n' $models >models.h

if [ "$1" = clang ]; then
    for compiler in clang clang++; do
        if ! command -v $compiler >/dev/null; then
            skip "no $compiler here"
        elif [ $compiler = clang ]; then
            in_language clang "$c_flags" -O0 c c2x
        else
            in_language clang++ "$cxx_flags" -O2 cc c++20
        fi
    done
    report
    exit
fi

# If a compiler lacks something, the header must refuse it with an #error that says what.
refused() { # refused TEXT COMMAND...
    text=$1
    shift
    ! "$@" >said 2>&1 && grep -q "#error.*$text" said
}
check 'cpu_avx.h by another compiler' refused 'needs gcc or clang' $CC -U__GNUC__ -fsyntax-only -x c "$top/cpu_avx.h"
echo "$headers" | sed 's/.*/#include "&"/' >eleven.cc
check 'all headers as C++11' $CXX -std=c++11 -Wall -Wextra -Wpedantic -Werror -I"$top" -fsyntax-only eleven.cc
check 'launches as C++14' refused 'need C++17' $CXX -std=c++14 -DSIMT_EMULATOR -fsyntax-only -x c++ "$top/trid/launch.h"

in_language "$CC" "$c_flags" -O0 c c2x
in_language "$CXX" "$cxx_flags" -O2 cc c++20
if [ -n "$SHORT_TESTS" ]; then
    skip 'headers as C17, numbers of cpu_avx.h under -ffast-math: SHORT_TESTS is set'
else
    echo "$headers" | sed 's/.*/#include "&"/' >every.c
    check "$CC as c17" $CC $c_flags -std=c17 -I"$top" -fsyntax-only every.c
fi
report
