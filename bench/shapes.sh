#!/bin/sh
# shapes.sh - what shapes of trid/batch.h's kernel for contiguous systems buy: launches are timed without them.
# MIT licence, see LICENSE.
#
#     sh bench/shapes.sh ROWS... >FILE.csv
#
# ROWS is a regular expression for rows of trid_p_batch_contiguous_shapes, such as 'hybrid, lanes, contiguous, (3|6),'.
# Of each, the rows that match are left out of a copy of the header, and all programs run in turn, three times. One line an
# operation: of its times without these rows over those with them, medians, the largest and the n that it is of; and at how
# many n it is above 1.01, of how many. Needs a GPU and nvcc (NVCC). Run from the top folder.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
table=trid/batch/contiguous.h
which=0
for rows in none "$@"; do
    mkdir "$work/$which" && cp -r trid trid.h transpose.h "$work/$which"
    sed -i -E "/^ *\{$rows/d" "$work/$which/$table"
    [ $which -eq 0 ] || ! cmp -s $table "$work/$which/$table" || { echo "shapes: no row matches $rows" >&2; exit 1; }
    for real in float double; do
        "${NVCC:-nvcc}" -O3 -std=c++17 -arch=native -DSHAPES_REAL=$real -I"$work/$which" -o "$work/$which/$real" \
            -x cu bench/shapes.cc &
    done
    which=$((which + 1))
done
wait
for run in 1 2 3; do
    for program in $(seq 0 $#); do
        for real in float double; do
            "$work/$program/$real" | sed "s/^/$program,$real,/"
        done
    done
done >"$work/times"
echo "# $(nvidia-smi --query-gpu=name --format=csv,noheader | head -1), $("${NVCC:-nvcc}" --version |
    sed -n 's/.*release.*V/nvcc /p') -O3, $(date +%F)"
echo "left_out,precision,operation,largest_ratio,at_n,above_1.01,of"
for program in $(seq 1 $#); do
    awk -F, -v left_out="$(echo "$1" | tr -d , | tr '|' +)" -v program="$program" '
        function median(x, y, z) { return x < y ? (y < z ? y : x < z ? z : x) : (x < z ? x : y < z ? z : y) }
        $1 == 0 || $1 == program {
            operation = $2 "," $3
            if (!(operation in largest)) { largest[operation] = 0; order[++count] = operation }
            ms[$1, operation, $4, ++runs[$1, operation, $4]] = $5
            sizes[$4]
        }
        function time(which, operation, n) {
            return median(ms[which, operation, n, 1], ms[which, operation, n, 2], ms[which, operation, n, 3])
        }
        END {
            for (i = 1; i <= count; i++) {
                above = of = 0
                for (n in sizes) {
                    ratio = time(program, order[i], n) / time(0, order[i], n)
                    above += ratio > 1.01
                    of++
                    if (ratio > largest[order[i]]) { largest[order[i]] = ratio; at[order[i]] = n }
                }
                printf "%s,%s,%.3f,%d,%d,%d\n", left_out, order[i], largest[order[i]], at[order[i]], above, of
            }
        }' "$work/times"
    shift
done
