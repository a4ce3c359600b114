#!/bin/sh
# fill.sh - puts the tables of results into the documents.
# MIT licence, see LICENSE.
#
#     sh bench/fill.sh FILE.md >NEW.md
#
# Between a line "<!-- sh bench/table.sh ... -->", or one that names another script of this folder, and the next
# "<!-- end -->" goes what that command prints. Fails if a command fails or a table does not end.
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
