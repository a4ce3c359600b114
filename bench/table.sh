#!/bin/sh
# table.sh - a results file as a Markdown table.
# MIT licence, see LICENSE.
#
#     sh bench/table.sh docs/results/solve-h200.csv [column,column,... [column=value,column=value,...]]
#
# All columns or those named, of all rows or of those with these values.
# The documents hold such tables between a comment that names this command and "<!-- end -->"; tests/text.sh checks that
# they are what it prints.
set -eu
awk -F, -v wanted="${2:-}" -v only="${3:-}" '
    /^#/ { next }
    !columns {
        if (wanted == "") { columns = NF; for (i = 1; i <= NF; i++) pick[i] = i }
        else {
            columns = split(wanted, name, ",")
            for (k = 1; k <= columns; k++) for (i = 1; i <= NF; i++) if ($i == name[k]) pick[k] = i
        }
        for (i = 1; i <= NF; i++) place[$i] = i
        conditions = split(only, condition, ",")
        rule = "|"
        for (k = 1; k <= columns; k++) rule = rule "---|"
        header = 1
    }
    !header {
        for (k = 1; k <= conditions; k++) {
            split(condition[k], part, "=")
            if ($place[part[1]] != part[2]) next
        }
    }
    {
        line = "|"
        for (k = 1; k <= columns; k++) line = line " " $pick[k] " |"
        print line
        if (header) print rule
        header = 0
    }' "$1"
