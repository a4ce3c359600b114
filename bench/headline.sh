#!/bin/sh
# headline.sh - prints the README's table: the times of typical tasks, each as a share of a limit from the same run.
# MIT licence, see LICENSE.
#
#     sh bench/headline.sh docs/results/trid_batch-h200.csv docs/results/bs1d-h200.csv docs/results/bs3d_timing-h200.csv \
#         docs/results/adi3d-h200.csv
set -eu

# Prints the named columns of the file's first row that has these values, with spaces between them.
pick() { # pick FILE column,column,... column=value,...
    sh "${0%/*}/table.sh" "$@" | sed -n '3s/[| ][| ]*/ /gp'
}
batch=$1 one=$2 three=$3 own=$4
row() { # row WHAT LIMIT MILLISECONDS SHARE [RATIO, which LIMIT prints]
    [ $# -ge 4 ] || { echo "headline.sh: no figures for: $1" >&2; exit 1; }
    awk -v what="$1" -v limit="$2" -v ms="$3" -v share="$4" -v ratio="${5:-}" 'BEGIN {
        printf "| %s | %.3g ms | %.0f %% | " limit " |\n", what, ms, share, ratio
    }'
}

echo "| single precision, on one $(sed -n '1s/^# \([^,]*\),.*/\1/p' "$batch") | time | share of the limit | the limit, measured in the same run |"
echo '|---|---|---|---|'
row '524288 tridiagonal systems of 256 rows, each with its own matrix (trid/batch.h)' \
    'a copy of as many bytes; cuSPARSE takes %.1f times as long' \
    $(pick "$batch" ms,pct_of_copy,ratio_to_cusparse operation=solve,n=256,batch=524288,precision=f32,layout=contiguous)
row '2048 options on one asset, 256 points, 2500 implicit steps (bs1d.h)' 'multiply-adds and nothing else' \
    $(pick "$one" ms_median,pct_of_peak kernel=implicit4,precision=f32,options=2048,points=256,steps=2500)
row 'an option on three assets, 256³ points, 100 ADI steps (bs3d.h)' 'a copy of the grid in each step' \
    $(pick "$three" ms_median,pct_of_limit kernel=implicit3,precision=f32,nx=256,steps=100)
row 'a model of your own in three factors, 256³ points, one ADI step (pde/adi3d.h)' \
    'copies of all that a step reads and writes' \
    $(pick "$own" ms_per_step,pct_of_copy engine=adi3d_douglas,precision=f32,n=256)
