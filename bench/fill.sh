#!/bin/sh
# fill.sh - puts the tables of results into the documents.
# MIT licence, see LICENSE.
#
#     sh bench/fill.sh FILE.md >NEW.md
#
# Between a line "<!-- sh bench/table.sh ... -->" and the next "<!-- end -->" goes what that command prints.
set -eu
awk '
    /^<!-- sh bench\/table.sh .* -->$/ {
        print
        command = $0
        sub(/^<!-- /, "", command)
        sub(/ -->$/, "", command)
        fflush()
        system(command)
        skipping = 1
        next
    }
    /^<!-- end -->$/ { skipping = 0 }
    !skipping { print }' "$1"
