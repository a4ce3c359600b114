#!/bin/sh
# fill.sh - prints a page with its tables filled from the results.
# MIT licence, see LICENSE.
#
#     sh bench/fill.sh FILE.md >NEW.md
#
# A line "<!-- sh bench/table.sh ... -->" holds a command, which may name another script of this folder. What the
# command prints replaces the lines from there to the next "<!-- end -->". Fails if a command fails or a table has no
# end.
set -eu
awk '
    /^<!-- sh bench\/[a-z_0-9]*\.sh .* -->$/ {
        print
        command = $0
        sub(/^<!-- /, "", command)
        sub(/ -->$/, "", command)
        fflush()
        if (system(command)) failed = 1
        skipping = 1
        next
    }
    /^<!-- end -->$/ { skipping = 0 }
    !skipping { print }
    END { exit failed || skipping }' "$1"
