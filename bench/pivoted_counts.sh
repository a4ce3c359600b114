#!/bin/sh
# pivoted_counts.sh - what the compiler makes of trid_warp_pivoted: registers, and instructions of each kind a row.
# MIT licence, see LICENSE.
#
#     sh bench/pivoted_counts.sh [ARCH] >docs/results/pivoted-counts.csv          (ARCH: sm_90)
#
# One line for each kernel, which loads K rows a lane, solves full systems of W lanes, and stores x. All instructions of
# the kernel count, divided by K. "selections" includes comparisons, because both use the same pipe. Needs nvcc and
# cuobjdump (NVCC and CUOBJDUMP name them).
set -eu
arch=${1:-sm_90}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/all.cu" <<'END'
#include "trid.h"
#define KERNEL(type, real, K, W)                                                                              \
    extern "C" __global__ void __launch_bounds__(256) type##_##K##_##W(const real *g, real *x, int *status)   \
    {                                                                                                         \
        size_t first = (size_t)blockIdx.x * 256 * K + threadIdx.x, part = (size_t)gridDim.x * 256 * K;        \
        real a[K], b[K], c[K], d[K];                                                                          \
        for (int j = 0; j < K; j++) {                                                                         \
            a[j] = g[first + 256 * j], b[j] = g[part + first + 256 * j];                                      \
            c[j] = g[2 * part + first + 256 * j], d[j] = g[3 * part + first + 256 * j];                       \
        }                                                                                                     \
        status[blockIdx.x * 256 + threadIdx.x] = trid_warp_pivoted(K, W, K * W, a, b, c, d);                  \
        for (int j = 0; j < K; j++) x[first + 256 * j] = d[j];                                                \
    }
KERNEL(f32, float, 4, 32) KERNEL(f32, float, 8, 32) KERNEL(f32, float, 8, 16) KERNEL(f32, float, 16, 32)
KERNEL(f32, float, 16, 16) KERNEL(f32, float, 16, 8) KERNEL(f32, float, 16, 2)
KERNEL(f64, double, 4, 32) KERNEL(f64, double, 8, 32) KERNEL(f64, double, 8, 16) KERNEL(f64, double, 8, 8)
KERNEL(f64, double, 8, 4) KERNEL(f64, double, 12, 16)
END
"${NVCC:-nvcc}" -std=c++17 -O3 -I. -arch="$arch" -cubin -Xptxas -v -o "$work/all.cubin" "$work/all.cu" 2>"$work/log"
echo "# $("${NVCC:-nvcc}" --version | sed -n 's/.*release.*V/nvcc /p'), -O3 -arch=$arch"
echo "precision,rows a lane,lanes,registers,local memory,multiply-adds etc.,selections,reciprocals,shuffles,all"
"${CUOBJDUMP:-cuobjdump}" -sass "$work/all.cubin" | awk '
    FILENAME != "-" && /Compiling entry/ { split($0, part, "\047"); name = part[2] }
    FILENAME != "-" && /bytes stack frame/ { memory[name] = $1 }
    FILENAME != "-" && /Used [0-9]+ registers/ { registers[name] = $5 }
    FILENAME != "-" { next }
    /Function :/ { name = $3; order[++kernels] = name; next }
    /^ *\/\*[0-9a-f]+\*\// && !/NOP;/ {
        op = $2 ~ /^@/ ? $3 : $2
        if (op ~ /^[FD](FMA|MUL|ADD)/) fma[name]++
        else if (op ~ /^([FD]SETP|FSEL|SEL|ISETP)/) select[name]++
        else if (op ~ /^MUFU/) rcp[name]++
        else if (op ~ /^SHFL/) shuffle[name]++
        all[name]++
    }
    END {
        for (i = 1; i <= kernels; i++) {
            name = order[i]
            split(name, part, "_")
            K = part[2]
            printf "%s,%d,%d,%d,%d,%.0f,%.0f,%.1f,%.1f,%.0f\n", part[1], K, part[3], registers[name], memory[name],
                fma[name] / K, select[name] / K, rcp[name] / K, shuffle[name] / K, all[name] / K
        }
    }' "$work/log" - | sort -t, -k1,1 -k2,2n -k3,3n
