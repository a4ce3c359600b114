#!/bin/sh
# heston_table.sh - what examples/adi2d_heston.cu printed, as a Markdown table.
# MIT licence, see LICENSE.
#
#     sh bench/heston_table.sh docs/results/adi2d_heston-h200.txt
#
# The first line of the file is that of locvol_timing's results of the same run, which names the machine.
set -eu
awk '
    /^# / { machine = substr($0, 3); sub(/,.*/, "", machine) }
    /^price / { price = $2; exact = $4; off = $7; sub(/,$/, "", exact); sub(/\).*/, "", off) }
    / parameter sets in / { sets = $1; ms = $5; rate = $7 }
    END {
        if (!price || !sets) { print "heston_table.sh: this is not what adi2d_heston prints" >"/dev/stderr"; exit 1 }
        print "| on one " machine " | |\n|---|---|"
        print "| a call, single precision | " price ", exact " exact ", relative error " off " |"
        printf "| %d parameter sets in one launch, with transfers | %.1f ms, %.0f problems a second |\n", sets, ms, rate
    }' "$1"
