#!/bin/sh
# batch_counts.sh - registers of trid/batch.h's kernels for contiguous systems, and how many bytes they allow in flight.
# MIT licence, see LICENSE.
#
#     sh bench/batch_counts.sh [ARCH] >docs/results/trid_batch-counts.csv          (ARCH: sm_90)
#
# One line a kernel: registers and bytes of local memory of a thread, how many warps a multiprocessor with 65536
# registers then holds, and how many KiB of a, b, c and d these warps have requested before the first of them arrives.
# Needs nvcc (NVCC).
set -eu
arch=${1:-sm_90}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/all.cu" <<'END'
#include "trid/batch.h"
int main() { return !trid_batch_solve_f32<> + !trid_batch_solve_f64<>; }
END
"${NVCC:-nvcc}" -std=c++17 -O3 -I. -arch="$arch" -Xptxas -v -cubin -o "$work/all.cubin" "$work/all.cu" 2>"$work/said"
echo "# $("${NVCC:-nvcc}" --version | sed -n 's/.*release.*V/nvcc /p'), -O3 -arch=$arch"
echo "kernel,rows_a_lane,precision,registers,local_bytes,warps,KiB_on_their_way"
awk -v quote="'" '
    /Compiling entry function/ { split($0, part, quote); name = part[2] }
    /bytes stack frame/ { local = $1 }
    # _Z23trid_p_batch_contiguousIfLi0ELi0ELi1ELi16ELi4ELi5E..: type, method, scope, layout, k, warps, resident
    /Used [0-9]+ registers/ && name ~ /trid_p_batch_contiguousI.Li1E/ {
        for (i = 1; i <= NF; i++) if ($i == "Used") registers = $(i + 1)
        type = substr(name, index(name, "contiguousI") + 11, 1)
        split(substr(name, index(name, "I" type "Li")), size, /Li|E/)
        is_block = size[4]
        path = size[6]
        rows = size[8]
        warps = size[10]
        bytes = type == "f" ? 4 : 8
        rounded = int((registers + 7) / 8) * 8
        held = int(65536 / (32 * rounded) / warps) * warps
        printf "%s_%s,%d,%s,%d,%d,%d,%d\n", is_block ? "block_of_" warps : "lanes", \
            path == 0 ? "full" : path == 1 ? "contiguous" : "strided", rows, type == "f" ? "f32" : "f64", registers, \
            local, held, held * 32 * rows * 4 * bytes / 1024
    }' "$work/said" | sort -t, -k3,3 -k1,1 -k2,2n
