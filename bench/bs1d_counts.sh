#!/bin/sh
# bs1d_counts.sh - what the compiler makes of a time step: instructions in the innermost loop of each rung of bs1d.h.
# MIT licence, see LICENSE.
#
#     sh bench/bs1d_counts.sh [ARCH] >docs/results/bs1d-counts.csv          (ARCH: sm_90)
#
# One line a kernel for grids of up to 256 points: multiply-adds, multiplications, additions, reciprocals (MUFU),
# shuffles and all instructions of one turn of the loop; how many steps of how many options a warp takes in that turn;
# and how many rows a lane holds. Needs nvcc and cuobjdump (NVCC and CUOBJDUMP name them).
set -eu
arch=${1:-sm_90}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
    echo '#include "bs1d.h"'
    echo 'int main(void) { return 0'
    for precision in f32 f64; do
        for rung in explicit1 explicit2 explicit3 implicit1 implicit2 implicit3 implicit4; do
            echo "+ bs1d_${rung}_$precision(0, 0, NULL, NULL, NULL, 0)"
        done
    done
    echo '; }'
} >"$work/all.cu"
"${NVCC:-nvcc}" -std=c++17 -O3 -I. -arch="$arch" -cubin -o "$work/all.cubin" "$work/all.cu"
echo "# $("${NVCC:-nvcc}" --version | sed -n 's/.*release.*V/nvcc /p'), -O3 -arch=$arch"
echo "kernel,precision,rows_a_lane,options_a_warp,steps,fma,mul,add,mufu,shuffle,all"
"${CUOBJDUMP:-cuobjdump}" -sass "$work/all.cubin" | awk '
    function hex(s,   i, n) {
        n = 0
        for (i = 1; i <= length(s); i++) n = 16 * n + index("0123456789abcdef", substr(s, i, 1)) - 1
        return n
    }
    # Finds the loop of the rung and prints its row. The loop is innermost and has shuffles or barriers. In explicit3 it
    # is the one with the most multiply-adds, which has the widest stencil; elsewhere it is the shortest.
    function report(   i, j, k, n, best, count, inner, rows, options, steps, name, precision, size, rung) {
        # 6tb_f3216bs1d_p_explicit1ILi256E, 6tb_f6415bs1d_p_implicitILi4ELi0ELi16ELi16E: rung, special, rows, lanes
        if (!match(name_of, /bs1d_p_(explicit1ILi256E|explicit[23]ILi8E|implicitILi[1-5]ELi0ELi)/)) return
        if (name_of ~ /implicitI/ && name_of !~ /ELi(16ELi16|8ELi32)E/) return
        name = substr(name_of, RSTART + 7)
        precision = name_of ~ /tb_f64/ ? "f64" : "f32"
        if (name ~ /^implicit/) {
            rung = substr(name, index(name, "ILi") + 3, 1)
            name = rung == 5 ? "increment4" : "implicit" rung
        } else {
            sub(/I.*/, "", name)
        }
        best = ""
        for (i = 1; i <= loops; i++) {
            inner = 1
            for (j = 1; j <= loops; j++) if (j != i && from[j] >= from[i] && to[j] <= to[i]) inner = 0
            if (!inner) continue
            delete n
            for (k = 1; k <= lines; k++) if (at[k] >= from[i] && at[k] <= to[i]) {
                size = op[k]
                if (size ~ /^[FD]FMA/) n["fma"]++
                else if (size ~ /^[FD]MUL/) n["mul"]++
                else if (size ~ /^[FD]ADD/) n["add"]++
                else if (size ~ /^MUFU/) n["mufu"]++
                else if (size ~ /^SHFL/) n["shfl"]++
                else if (size ~ /^BAR/) n["bar"]++
                else if (size ~ /^[FD](SETP|MNMX)/) n["floor"]++
                n["all"]++
            }
            if (n["fma"] < 20 || (!n["shfl"] && !n["bar"]) || n["floor"]) continue # American exercise has a floor
            if (name == "explicit3" && n["mul"]) continue
            # Matrices that need no PCR steps have a loop of their own, whose few shuffles fetch neighbours.
            if (name ~ /^(implicit|increment)/ && n["shfl"] <= 4) continue
            if (best == "" || (name == "explicit3" ? n["fma"] > count["fma"] : n["all"] < count["all"])) {
                best = i
                for (k in count) delete count[k]
                for (k in n) count[k] = n[k]
            }
        }
        if (best == "") return
        options = name ~ /implicit[34]/ || (name ~ /implicit[12]/ && precision == "f64") ||
            (name == "increment4" && precision == "f32") ? 2 : 1
        rows = name == "explicit1" ? 1 : 8 * options
        steps = 1
        if (name == "explicit1") steps = count["bar"]
        if (name == "explicit2") steps = count["shfl"] / (precision == "f64" ? 4 : 2)
        printf "%s,%s,%d,%s,%s,%d,%d,%d,%d,%d,%d\n", name, precision, rows, name == "explicit1" ? "1/8" : options,
            name == "explicit3" ? "composed" : steps, count["fma"], count["mul"], count["add"], count["mufu"],
            count["shfl"], count["all"]
    }
    /Function :/ { report(); name_of = $3; lines = loops = 0; next }
    match($0, /\/\*[0-9a-f][0-9a-f][0-9a-f][0-9a-f]+\*\//) && /;/ {
        address = hex(substr($0, RSTART + 2, RLENGTH - 4))
        text = substr($0, RSTART + RLENGTH)
        sub(/^ *(@!?U?P[0-9T]+ +)?/, "", text)
        at[++lines] = address
        op[lines] = text
        if (text ~ /^BRA/ && match(text, /0x[0-9a-f]+/)) {
            target = hex(substr(text, RSTART + 2, RLENGTH - 2))
            if (target < address) { from[++loops] = target; to[loops] = address }
        }
    }
    END { report() }' | sort
