#!/bin/sh
# headline.sh - the first table of the README: a row of each kind, and what the same run compares it with.
# MIT licence, see LICENSE.
#
#     sh bench/headline.sh docs/results/solve-h200.csv docs/results/bs1d-h200.csv docs/results/bs3d_timing-h200.csv
set -eu

# Of the file's first row with these values: the named columns, one behind the other.
pick() { # pick FILE column,column,... column=value,...
    sh "${0%/*}/table.sh" "$@" | sed -n '3s/[| ][| ]*/ /gp'
}
set -- "$(sed -n '1s/^# \([^,]*\),.*/\1/p' "$1")" \
    $(pick "$1" ms_median,gbytes_per_s,pct_of_copy,systems,n kernel=drop_in,precision=f32) \
    $(pick "$1" ms_median kernel=cusparse_gtsv2StridedBatch,precision=f32) \
    $(pick "$2" ms_median,gflops,pct_of_peak,options,points,steps kernel=implicit4,precision=f32,options=2048) \
    $(pick "$2" ms_median kernel=implicit1,precision=f32,options=2048) \
    $(pick "$3" ms_median,gbytes_per_s,pct_of_limit,nx,steps kernel=implicit2,precision=f32,nx=256) \
    $(pick "$3" ms_median kernel=implicit1,precision=f32,nx=256)
[ $# -eq 20 ] || { echo "headline.sh: a row is missing" >&2; exit 1; }

printf '| single precision, on one %s | time | speed | compared with, in the same run |\n|---|---|---|---|\n' "$1"
awk -v q="$*" -v skip="$1" 'BEGIN {
    split(substr(q, length(skip) + 2), x, " ")
    printf "| %d tridiagonal systems of %d rows, each with its own matrix | %.3g ms | %.0f GB/s | ", x[4], x[5], x[1], x[2]
    printf "%.0f %% of a device-to-device copy; cuSPARSE (gtsv2StridedBatch) %.3g ms |\n", x[3], x[6]
    printf "| %d options on one asset, %d points, %d implicit steps | %.3g ms | %.1f TFlop/s | ", x[10], x[11], x[12], x[7], x[8] / 1000
    printf "%.0f %% of a loop of multiply-adds; the plain rung %.3g ms |\n", x[9], x[13]
    printf "| one option on three assets, %d³ points, %d ADI steps | %.3g ms | %.0f GB/s | ", x[17], x[18], x[14], x[15]
    printf "%.0f %% of five passes at the speed of a copy; the plain rung %.3g ms |\n", x[16], x[19]
}'
