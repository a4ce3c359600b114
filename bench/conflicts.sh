#!/bin/sh
# conflicts.sh - the shared-memory bank conflicts of transpose.h's kernels, as the profiler's counters say.
# MIT licence, see LICENSE.
#
#     sh bench/conflicts.sh build/bench_transpose
#
# One line a kernel: its name, conflicts in loads, conflicts in stores. Needs ncu and a GPU whose counters it may read.
set -eu
metric=l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op
ncu --csv --clock-control none -k regex:move --metrics ${metric}_ld.sum,${metric}_st.sum "$1" --once |
    awk -F '","' '
        /^"ID"/ { for (i = 1; i <= NF; i++) { sub(/"$/, "", $i); column[$i] = i }; next }
        !("Metric Name" in column) { next }
        {
            value = $(column["Metric Value"]); gsub(/[",]/, "", value)
            name = $(column["Kernel Name"])
            if ($(column["Metric Name"]) ~ /_ld/) loads[name] = value; else stores[name] = value
            if (!(name in seen)) { seen[name] = 1; order[++kernels] = name }
        }
        END { for (i = 1; i <= kernels; i++) print order[i] ": loads " loads[order[i]] ", stores " stores[order[i]] }'
