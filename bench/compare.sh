#!/bin/sh
# compare.sh - compares two states of the kit by the results of one benchmark that ran in turn on one machine.
# MIT licence, see LICENSE.
#
#     sh bench/compare.sh OLD.csv... -- NEW.csv... >FILE.csv
#
# For each line that both have it prints the medians of old and new milliseconds, new / old, and the larger spread of
# the two, as a share of the old median. The columns before "ms", "ms_median" or "ms_per_step" identify a line. The new
# files' first line is kept.
set -eu
awk -F, '
    function median(which, key,   n, i, j, t) {
        n = runs[which, key]
        for (i = 1; i <= n; i++) sorted[i] = ms[which, key, i] + 0
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && sorted[j] < sorted[j - 1]; j--) { t = sorted[j]; sorted[j] = sorted[j - 1]; sorted[j - 1] = t }
        spread = sorted[n] - sorted[1]
        return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
    }
    FNR == 1 { which = fresh; column = 0 }
    /^#/ { if (which && !said++) print; next }
    !column {
        for (i = 1; i <= NF; i++) if ($i ~ /^ms(_median|_per_step)?$/) column = i
        if (which && !headed++) { for (i = 1; i < column; i++) printf "%s,", $i; print "ms_old,ms_new,ratio,spread" }
        next
    }
    {
        key = $1
        for (i = 2; i < column; i++) key = key "," $i
        if (!(key in seen)) { seen[key]; order[++keys] = key }
        ms[which, key, ++runs[which, key]] = $column
    }
    END {
        for (k = 1; k <= keys; k++) {
            if (!runs[0, order[k]] || !runs[1, order[k]]) continue
            old = median(0, order[k]); most = spread
            new = median(1, order[k]); if (spread > most) most = spread
            printf "%s,%s,%s,%.3f,%.3f\n", order[k], old, new, new / old, most / old
        }
    }' fresh=0 $(for file in "$@"; do [ "$file" = -- ] && echo fresh=1 || echo "$file"; done)
