#!/bin/sh
# locvol_table.sh - milliseconds of the benchmark's versions as a Markdown table.
# MIT licence, see LICENSE.
#
#     sh bench/locvol_table.sh docs/results/locvol_timing-h200.csv
#
# A row for each version and precision; a column for each data set, and one for the largest error over all of them. The
# time of the whole call with transfers (VERSION_call in the file) is in parentheses after the time of VERSION.
set -eu
awk -F, '
    /^#/ { next }
    !columns { columns = NF; for (k = 1; k <= NF; k++) at[$k] = k; next }
    {
        version = $at["version"]; call = sub(/_call$/, "", version)
        name = version " | " $at["precision"]; set = $at["dataset"]
        if (!(name in seen)) { seen[name] = 1; names[++rows] = name }
        if (!(set in known)) { known[set] = 1; sets[++count] = set }
        if (call) whole[name, set] = $at["ms_median"]
        else time[name, set] = $at["ms_median"]
        error = $at["max_abs_error_vs_host_double"]
        if (error + 0 >= worst[name] + 0) worst[name] = error
    }
    END {
        if (!rows) { print "locvol_table.sh: no rows" >"/dev/stderr"; exit 1 }
        head = "| version | precision |"; rule = "|---|---|"
        for (s = 1; s <= count; s++) { head = head " " sets[s] " |"; rule = rule "---|" }
        print head " largest error |\n" rule "---|"
        for (r = 1; r <= rows; r++) {
            line = "| " names[r] " |"
            for (s = 1; s <= count; s++) {
                line = line " " sprintf("%.3g", time[names[r], sets[s]])
                if ((names[r], sets[s]) in whole) line = line sprintf(" (%.3g)", whole[names[r], sets[s]])
                line = line " |"
            }
            print line " " worst[names[r]] " |"
        }
    }' "$1"
