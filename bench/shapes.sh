#!/bin/sh
# shapes.sh - what shapes of trid/batch.h's kernel for contiguous systems gain: times launches without them.
# MIT licence, see LICENSE.
#
#     sh bench/shapes.sh ROWS... >FILE.csv
#
# ROWS is a regular expression for rows of trid_p_batch_contiguous_shapes, such as 'hybrid, lanes, contiguous, (3|6),'.
# For each expression a copy of the header omits the rows that match, and all programs run in turn, three times. The
# ratios are median times without these rows over those with them. A line for each operation gives the largest ratio and
# its n, and at how many n of how many the ratio exceeds 1.01. Needs a GPU and nvcc (NVCC names it). Run from the top
# folder.
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
        "${NVCC:-nvcc}" -O3 -std=c++17 -arch=native -DSHAPES_REAL=$real "-DBENCH_FLAGS=\"-O3 -arch=native\"" \
            -I"$work/$which" -o "$work/$which/$real" -x cu bench/shapes.cc &
    done
    which=$((which + 1))
done
wait
for run in 1 2 3; do
    for program in $(seq 0 $#); do
        for real in float double; do
            "$work/$program/$real" --csv "$work/$program/$real.$run.csv" >/dev/null
        done
    done
done
sed -n 1p "$work/0/float.1.csv"
echo "left_out,precision,operation,largest_ratio,at_n,above_1.01,of"
for program in $(seq 1 $#); do
    for real in float double; do
        sh bench/compare.sh "$work/0/$real".*.csv -- "$work/$program/$real".*.csv |
            awk -F, -v label="$(echo "$1" | tr -d , | tr '|' +),$real" '
                /^#/ || $1 == "operation" { next }
                !of[$1]++ { order[++count] = $1 }
                $5 > 1.01 { above[$1]++ }
                $5 > largest[$1] { largest[$1] = $5; at[$1] = $2 }
                END {
                    for (i = 1; i <= count; i++)
                        print label "," order[i] "," largest[order[i]] "," at[order[i]] "," above[order[i]] + 0 "," of[order[i]]
                }'
    done
    shift
done
