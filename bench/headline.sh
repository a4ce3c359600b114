#!/bin/sh
# headline.sh - the first table of the README: a row of each kind, and what the same run compares it with.
# MIT licence, see LICENSE.
#
#     sh bench/headline.sh docs/results/trid_batch-h200.csv docs/results/solve-h200.csv docs/results/bs1d-h200.csv \
#         docs/results/bs3d_timing-h200.csv docs/results/python-h200.csv docs/results/locvol_timing-h200.csv \
#         docs/results/adi2d_heston-h200.txt
set -eu

# Of the file's first row with these values: the named columns, one behind the other.
pick() { # pick FILE column,column,... column=value,...
    sh "${0%/*}/table.sh" "$@" | sed -n '3s/[| ][| ]*/ /gp'
}
batch=$1 solve=$2 one=$3 three=$4 python=$5 two=$6 heston=$7
machine=$(sed -n '1s/^# \([^,]*\),.*/\1/p' "$batch")
row() { # row WHAT FORMAT NUMBER...: a line of the table, the cells behind the first made by printf
    what=$1 format=$2
    shift 2
    [ $# -ge 2 ] || { echo "headline.sh: no figures for: $what" >&2; exit 1; }
    awk -v what="$what" -v format="$format" -v q="$*" 'BEGIN {
        split(q, x, " ")
        printf "| %s | " format " |\n", what, x[1], x[2], x[3], x[4], x[5]
    }'
}

printf '| single precision, on one %s | time | speed | compared with, in the same run |\n|---|---|---|---|\n' "$machine"
for layout in 'contiguous/one after another' 'interleaved/interleaved'; do
    row "524288 tridiagonal systems of 256 rows, each with its own matrix, ${layout#*/} (trid/batch.h)" \
        "%.3g ms | %.0f GB/s | %.0f %% of a device-to-device copy; %.1f times as fast as cuSPARSE's best routine" \
        $(pick "$batch" ms,gbytes_per_s,pct_of_copy,ratio_to_cusparse \
            operation=solve,n=256,batch=524288,precision=f32,layout="${layout%/*}")
done
row "the same, one after another, by the kernel of twenty lines below (trid.h)" \
    "%.3g ms | %.0f GB/s | %.0f %% of a copy" \
    $(pick "$solve" ms_median,gbytes_per_s,pct_of_copy kernel=drop_in,precision=f32,n=256,systems=524288)
row "the same, one after another, from JAX (examples/python)" \
    "%.3g ms | %.0f GB/s | %.0f %% of a copy; JAX's own tridiagonal_solve %.3g ms" \
    $(pick "$python" ms,gbytes_per_s,pct_of_copy \
        program=jax,method=trid_batch_solve,precision=f32,n=256,systems=524288) \
    $(pick "$python" ms program=jax,method=jax_lax_tridiagonal_solve,precision=f32,n=256,systems=524288)
row "2048 options on one asset, 256 points, 2500 implicit steps (bs1d.h)" \
    "%.3g ms | %.0f GFlop/s | %.0f %% of a loop of multiply-adds; the plain rung %.3g ms" \
    $(pick "$one" ms_median,gflops,pct_of_peak kernel=implicit4,precision=f32,options=2048,points=256,steps=2500) \
    $(pick "$one" ms_median kernel=implicit1,precision=f32,options=2048,points=256,steps=2500)
row "one option on three assets, 256³ points, 100 ADI steps (bs3d.h)" \
    "%.3g ms | %.0f GB/s | %.0f %% of one reading and writing a step at the speed of a copy; the plain rung %.3g ms" \
    $(pick "$three" ms_median,gbytes_per_s,pct_of_limit kernel=implicit3,precision=f32,nx=256,steps=100) \
    $(pick "$three" ms_median kernel=implicit1,precision=f32,nx=256,steps=100)
row "256 options in a local volatility model, 256 x 256 points, 63 ADI steps, the model a C file of the user's (pde/adi2d.h)" \
    "%.3g ms | %.0f GFlop/s | the same through memory %.3g ms" \
    $(pick "$two" ms_median,gflops version=onchip,precision=f32,dataset=large) \
    $(pick "$two" ms_median version=coalesced,precision=f32,dataset=large)
row "Heston calls of 1000 parameter sets in one launch, 192 x 64 points, transfers included (pde/adi2d.h)" \
    "%.3g ms | %.0f problems a second | relative error of a price that is known: %.1e" \
    $(sed -n 's/^1000 parameter sets in \([0-9.]*\) ms: \([0-9]*\) problems.*/\1 \2/p' "$heston") \
    $(sed -n 's/^price .*off by \([-0-9.e]*\)).*/\1/p' "$heston")
