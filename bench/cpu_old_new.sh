#!/bin/sh
# cpu_old_new.sh - compares two versions of cpu_avx.h: runs examples/cpu_timing.c, built with each, in turn.
# MIT licence, see LICENSE.
#
#     sh bench/cpu_old_new.sh OLD NEW TURNS [OPTION...] >FILE.csv
#
# OLD and NEW are the two programs; the options are cpu_timing's, such as "--isa avx512". In each turn both programs run
# for each precision, and for one thread and two; the program that runs first changes from turn to turn. For each line of
# cpu_timing this script prints the median milliseconds a step of old and new, the median of the turns' ratios new / old,
# and the least and the greatest ratio.
set -eu
old=$1 new=$2 turns=$3
shift 3
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
for turn in $(seq "$turns"); do
    for precision in f32 f64; do
        for threads in 1 2; do
            order="old new"
            [ $((turn % 2)) = 1 ] || order="new old"
            for which in $order; do
                case $which in old) program=$old ;; *) program=$new ;; esac
                "$program" $precision --threads $threads "$@" --csv >"$results/$which" || true # a busy machine is no failure
                sed "s/^[^#]/$which,&/" "$results/$which" >>"$results/all"
            done
        done
    done
done
awk -F, -v turns="$turns" '
    function median(which, key,   n, i, j, t) {
        n = count[which, key]
        for (i = 1; i <= n; i++) sorted[i] = value[which, key, i]
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && sorted[j] < sorted[j - 1]; j--) { t = sorted[j]; sorted[j] = sorted[j - 1]; sorted[j - 1] = t }
        least = sorted[1]; greatest = sorted[n]
        return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
    }
    function add(which, key, ms) { value[which, key, ++count[which, key]] = ms }
    /^# values/ { next }
    /^#/ { if (!said++) { print $0 "; medians of " turns " turns"; print "kernel,precision,isa,threads,size,ms_old,ms_new,ratio,least,greatest" } next }
    $2 == "kernel" { next }
    {
        key = $2 "," $3 "," $4 "," $5 "," $6
        if (!(key in seen)) { seen[key]; order[++keys] = key }
        add($1, key, $8 / $7)
        if (count["old", key] == count["new", key])
            add("ratio", key, value["new", key, count["new", key]] / value["old", key, count["old", key]])
    }
    END {
        for (k = 1; k <= keys; k++) {
            if (!count["ratio", order[k]]) continue
            old = median("old", order[k]); new = median("new", order[k]); ratio = median("ratio", order[k])
            printf "%s,%.4g,%.4g,%.3f,%.3f,%.3f\n", order[k], old, new, ratio, least, greatest
        }
    }' "$results/all"
