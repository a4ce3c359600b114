#!/bin/sh
# locvol_speedups.sh - what each change of the port gained, as a Markdown table: speeds relative to the program in C.
# MIT licence, see LICENSE.
#
#     sh bench/locvol_speedups.sh docs/results/locvol_variants-h200.csv
#
# A row for each version and place of the weights; a column for each data set, with single / double precision.
set -eu
awk -F, '
    /^#/ { next }
    !columns { columns = NF; for (k = 1; k <= NF; k++) at[$k] = k; next }
    $at["version"] != "sequential" {
        name = $at["version"] " | " $at["weights"]
        if (!(name in seen)) { seen[name] = 1; names[++rows] = name }
        set = $at["dataset"]
        if (!(set in known)) { known[set] = 1; sets[++count] = set }
        gain[name, set, $at["precision"]] = $at["over_sequential"]
    }
    END {
        if (!rows) { print "locvol_speedups.sh: no rows" >"/dev/stderr"; exit 1 }
        head = "| version | weights |"; rule = "|---|---|"
        for (s = 1; s <= count; s++) { head = head " " sets[s] " |"; rule = rule "---|" }
        print head "\n" rule
        for (r = 1; r <= rows; r++) {
            line = "| " names[r] " |"
            for (s = 1; s <= count; s++) {
                single = gain[names[r], sets[s], "f32"]
                line = line " " (single == "" ? "" : single " / " gain[names[r], sets[s], "f64"]) " |"
            }
            print line
        }
    }' "$1"
