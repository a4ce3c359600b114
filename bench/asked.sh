#!/bin/sh
# asked.sh - lists the targets of a header that a machine does not reach, from the results on that machine.
# MIT licence, see LICENSE.
#
#     sh bench/asked.sh batch docs/results/trid_batch-h200.csv [docs/results/trid_batch-bounds-h200.csv]
#     sh bench/asked.sh bs3d docs/results/bs3d_timing-h200.csv
#
# docs/batch_notes.md and docs/bs3d_notes.md give the causes below the tables, and what was tried. A target that is
# reached is an error: remove it from this script and from the page. With a third file each line ends with what the
# profiler counted (batch_bounds.sh).
set -eu

page=$1 results=$2 bounds=${3:-} number=0
columns=${bounds:+instructions,issue,no_eligible,waits_1,waits_2,memory_bus,occupied,no_pause}

# Prints one column of the first row of the results that has these values.
pick() { # pick COLUMN column=value,...
    sh "${0%/*}/table.sh" "$results" "$1" "$2" | sed -n '3s/[| ][| ]*//gp'
}
# Prints what the profiler counted for the same row, as the last columns of a line.
counted() { # counted column=value,...
    [ -z "$bounds" ] || sh "${0%/*}/table.sh" "$bounds" "$columns" "$1" | sed -n '3s/^|//p'
}
row() { # row WHAT ASKED UNIT MEASURED [COUNTED]: ASKED is "at least" or "at most" and a number
    number=$((number + 1))
    awk -v number=$number -v counted="${5:-}" -v what="$1" -v asked="$2" -v unit="$3" -v measured="$4" 'BEGIN {
        split(asked, part, " ")
        if (measured == "" || !(part[3] + 0 > 0)) {
            print "asked.sh: no figures for: " what >"/dev/stderr"
            exit 1
        }
        if (part[2] == "least" ? measured + 0 >= part[3] + 0 : measured + 0 <= part[3] + 0) {
            print "asked.sh: reached, remove it: " what >"/dev/stderr"
            exit 1
        }
        printf "| %d | %s | %s %s | %s %s |%s\n", number, what, asked, unit, measured, unit, counted
    }'
}
share() { # share WHAT LEAST column=value,...: of the speed of a copy
    row "$1" "at least $2" % "$(pick pct_of_copy "$3")" "$(counted "$3")"
}

echo "| | operation | target | measured |$(echo $columns | sed 's/[^,][^,]*/ & |/g; s/,//g')"
echo "|---|---|---|---|$(echo $columns | sed 's/[^,][^,]*/---|/g; s/,//g')"
case $page in
batch)
    interleaved=layout=interleaved,n=
    share 'solve, interleaved, n = 1024, single' 90 operation=solve,precision=f32,${interleaved}1024
    share 'checked, interleaved, single' 92 operation=solve_checked,precision=f32,${interleaved}256
    for precision in f32/single f64/double; do
        for sides in 1 4 16; do
            share "factored, sides: $sides, interleaved, ${precision#*/}" 95 \
                "operation=factored_$sides,precision=${precision%/*},layout=interleaved"
        done
    done
    for precision in f32/single f64/double; do
        where=precision=${precision%/*},layout=interleaved,n=256 in=interleaved,
        for sides in 1 4 16; do
            share "several, sides: $sides, $in ${precision#*/}" 92 "operation=several_$sides,$where"
        done
        share "factor, periodic, $in ${precision#*/}" 85 "operation=factor_periodic,$where"
        share "one matrix for all, $in ${precision#*/}" 95 "operation=solve_shared_matrix,$where"
        where=precision=${precision%/*},layout=contiguous in=contiguous,
        share "one matrix for all, $in ${precision#*/}" 95 "operation=solve_shared_matrix,n=256,$where"
    done
    ;;
bs3d)
    # A grid of 512 points an axis has 8 times the points, and is allowed 15 % more time a point.
    limit() { # limit POINTS PRECISION NAME MOST
        ms=$(pick ms_median "kernel=implicit3,nx=$1,precision=$2")
        row "implicit3, $1³ points, 100 steps, $3" "at most $4" ms "${ms:+$(printf %.1f "$ms")}"
    }
    limit 256 f64 double 16
    limit 512 f64 double 147.2
    ;;
*)
    echo "asked.sh: nothing is known of $page" >&2
    exit 1
    ;;
esac
