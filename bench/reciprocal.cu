/* reciprocal.cu - the largest error of trid_rcp on this GPU, and its results at the ends of the range.
   MIT licence, see LICENSE.

       reciprocal [--csv FILE]

   In single precision the program compares the results of all 2^32 inputs with 1/x in double precision. In double
   precision it takes the residuals of 2^33 random inputs, over all binades whose reciprocals are normal, and of the
   numbers next to the edges and the middle of every binade. */
#include "../trid.h"
#include "bench.h"

#include <math.h>

/* The classes of special inputs x, and the kinds of results that are counted for each class. */
enum { ZERO, SUBNORMAL, LARGE, INFINITE, NOT_A_NUMBER, CLASSES };
enum { TO_ZERO, TO_SUBNORMAL, TO_NORMAL, TO_INF, TO_NAN, KINDS };

enum { UNITS = 1 << 20 }; /* errors are counted in ulp / UNITS, as integers, of which an atomic finds the largest */

struct Tally {
    unsigned long long worst; /* the largest error */
    unsigned long long count; /* inputs whose error was taken */
    unsigned long long kind[CLASSES][KINDS];
    unsigned long long sign_lost[CLASSES];
};

__device__ static int kind_of(double magnitude, double least_normal)
{
    return isnan(magnitude)           ? TO_NAN
           : isinf(magnitude)         ? TO_INF
           : magnitude == 0           ? TO_ZERO
           : magnitude < least_normal ? TO_SUBNORMAL
                                      : TO_NORMAL;
}

/* Returns the class of special inputs to which this one belongs, or CLASSES for all others, whose error is taken. */
__device__ static int class_of(double magnitude, double least_normal)
{
    return isnan(magnitude)               ? NOT_A_NUMBER
           : isinf(magnitude)             ? INFINITE
           : magnitude == 0               ? ZERO
           : magnitude < least_normal     ? SUBNORMAL
           : magnitude > 1 / least_normal ? LARGE
                                          : CLASSES;
}

__global__ void all_f32(Tally *tally)
{
    const double least_normal = 1.17549435082228751e-38;
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x, worst = 0, count = 0;
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < 1ull << 32; i += step) {
        float x = __uint_as_float((unsigned)i), y = trid_rcp_f32(x);
        int c = class_of(fabs((double)x), least_normal);
        if (c < CLASSES) {
            atomicAdd(&tally->kind[c][kind_of(fabs((double)y), least_normal)], 1ull);
            if (signbit(x) != signbit(y)) atomicAdd(&tally->sign_lost[c], 1ull);
            continue;
        }
        double exact = 1.0 / (double)x, ulp = ldexp(1.0, ilogb(exact) - 23);
        unsigned long long error = (unsigned long long)ceil(fabs((double)y - exact) / ulp * UNITS);
        worst = error > worst ? error : worst;
        count++;
    }
    atomicMax(&tally->worst, worst);
    atomicAdd(&tally->count, count);
}

/* Returns the error of y. With e = 1 - x y, exact except for its own rounding, y is off by |e| y, which is
   |e| y / ulp(y) ulp. */
__device__ static unsigned long long error_f64(double x, double y)
{
    double mantissa = ldexp(fabs(y), -ilogb(y));
    double error = fabs(fma(-x, y, 1.0)) * mantissa * 0x1p52;
    return error < 1e12 ? (unsigned long long)ceil(error * UNITS) : ~0ull; /* NaN and nonsense are the worst */
}

__device__ static unsigned long long mix(unsigned long long z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

__global__ void random_f64(unsigned long long inputs, Tally *tally)
{
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x, worst = 0, count = 0;
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < inputs; i += step) {
        unsigned long long bits = mix(i), exponent = 1 + mix(~i) % 2044; /* 2^-1022 .. below 2^1022 */
        double x = __longlong_as_double((long long)((bits & 0x800fffffffffffffull) | exponent << 52));
        unsigned long long error = error_f64(x, trid_rcp_f64(x));
        worst = error > worst ? error : worst;
        count++;
    }
    atomicMax(&tally->worst, worst);
    atomicAdd(&tally->count, count);
}

/* Tests the numbers next to the lower edge, the middle and the upper edge of each binade, of both signs: a block for
   each exponent, a thread for each number. */
__global__ void edges_f64(Tally *tally)
{
    unsigned long long third = threadIdx.x % 3, near = threadIdx.x / 3 % 128, sign = threadIdx.x / 384;
    unsigned long long mantissa = third == 0   ? near
                                  : third == 1 ? 0x7ffffffffffc0ull + near
                                               : 0xfffffffffffffull - near;
    double x = __longlong_as_double((long long)(sign << 63 | (unsigned long long)blockIdx.x << 52 | mantissa));
    double y = trid_rcp_f64(x), least_normal = 2.2250738585072014e-308;
    int c = class_of(fabs(x), least_normal);
    if (c == CLASSES && fabs(x) >= 4.49423283715578977e307) c = LARGE; /* 2^1022: its reciprocal is the least normal */
    if (c < CLASSES) {
        atomicAdd(&tally->kind[c][kind_of(fabs(y), least_normal)], 1ull);
        if (signbit(x) != signbit(y)) atomicAdd(&tally->sign_lost[c], 1ull);
        return;
    }
    atomicMax(&tally->worst, error_f64(x, y));
    atomicAdd(&tally->count, 1ull);
}

static void report(const Bench &bench, const char *what, const Tally &t)
{
    static const char *classes[] = {"0", "subnormal", "above 1/least normal", "inf", "NaN"};
    static const char *kinds[] = {"0", "subnormal", "normal", "inf", "NaN"};
    bench_line(bench, "%s: largest error %.6f ulp over %llu inputs\n", what, (double)t.worst / UNITS, t.count);
    for (int c = 0; c < CLASSES; c++)
        for (int k = 0; k < KINDS; k++)
            if (t.kind[c][k])
                bench_line(bench, "%s: x %s gives %s, %llu inputs%s\n", what, classes[c], kinds[k], t.kind[c][k],
                           t.sign_lost[c] && k != TO_NAN ? ", sign lost" : "");
}

int main(int argc, char **argv)
{
    Bench bench = bench_open(argc, argv);
    Tally *device, host;
    BENCH_OK(cudaMalloc(&device, sizeof host));
    for (int part = 0; part < 3; part++) {
        BENCH_OK(cudaMemset(device, 0, sizeof host));
        if (part == 0) all_f32<<<4096, 256>>>(device);
        if (part == 1) random_f64<<<4096, 256>>>(1ull << 33, device);
        if (part == 2) edges_f64<<<2048, 768>>>(device);
        BENCH_OK(cudaGetLastError());
        BENCH_OK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
        report(bench, part == 0 ? "f32 all" : part == 1 ? "f64 random" : "f64 edges", host);
    }
    BENCH_OK(cudaFree(device));
    if (bench.csv && fclose(bench.csv)) return perror("csv"), 2;
    return 0;
}
