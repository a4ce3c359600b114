#!/bin/sh
# table.sh - prints a results file as a Markdown table.
# MIT licence, see LICENSE.
#
#     sh bench/table.sh docs/results/solve-h200.csv [column,column,... [column=value,column=value/value,...]]
#
# Prints all columns or those named, and all rows or those with these values. A slash separates values of which any will
# do. A column that the file does not have, or a value that none of its rows has, is an error. The documents hold such
# tables between a comment that names this command and "<!-- end -->"; tests/text.sh checks that they are what this
# command prints.
set -eu
awk -F, -v wanted="${2:-}" -v only="${3:-}" '
    function fail(what) { print FILENAME ": " what > "/dev/stderr"; failed = 1; exit 1 }
    /^#/ { next }
    !columns {
        for (i = 1; i <= NF; i++) place[$i] = i
        if (wanted == "") { columns = NF; for (i = 1; i <= NF; i++) pick[i] = i }
        else {
            columns = split(wanted, name, ",")
            for (k = 1; k <= columns; k++) {
                if (!(name[k] in place)) fail("no column " name[k])
                pick[k] = place[name[k]]
            }
        }
        conditions = split(only, condition, ",")
        for (k = 1; k <= conditions; k++) {
            split(condition[k], part, "=")
            if (!(part[1] in place)) fail("no column " part[1])
            where[k] = place[part[1]]
            values = split(part[2], value, "/")
            for (v = 1; v <= values; v++) unseen[k, value[v]] = part[1] "=" value[v]
        }
        rule = "|"
        for (k = 1; k <= columns; k++) rule = rule "---|"
        header = 1
    }
    !header {
        fits = 1
        for (k = 1; k <= conditions; k++) if (!((k, $where[k]) in unseen)) fits = 0
        if (!fits) next
        for (k = 1; k <= conditions; k++) unseen[k, $where[k]] = ""
    }
    {
        line = "|"
        for (k = 1; k <= columns; k++) line = line " " $pick[k] " |"
        print line
        if (header) print rule
        header = 0
    }
    END {
        if (failed) exit 1
        for (u in unseen) if (unseen[u] != "") fail("no row that is wanted has " unseen[u])
    }' "$1"
