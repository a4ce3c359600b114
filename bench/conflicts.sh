#!/bin/sh
# conflicts.sh - the shared-memory bank conflicts of transpose.h's kernels, as the profiler's counters say.
# MIT licence, see LICENSE.
#
#     sh bench/conflicts.sh build/bench/transpose
#
# Prints a line for each kernel: its name, the wavefronts of its accesses to shared memory, and how many there would be
# without bank conflicts. (The counter l1tex__data_bank_conflicts also counts waits for other pipes, and is not 0 for a
# single word a lane.) Needs ncu and a GPU whose counters ncu may read.
set -eu
ncu --csv --clock-control none -k regex:move --metrics memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal \
    "$1" --once |
    awk -F '","' '
        /^"ID"/ { for (i = 1; i <= NF; i++) { sub(/"$/, "", $i); column[$i] = i }; next }
        !("Metric Name" in column) { next }
        {
            value = $(column["Metric Value"]); gsub(/[",]/, "", value)
            name = $(column["Kernel Name"])
            if ($(column["Metric Name"]) ~ /_ideal/) ideal[name] = value; else took[name] = value
            if (!(name in seen)) { seen[name] = 1; order[++kernels] = name }
        }
        END { for (i = 1; i <= kernels; i++) print order[i] ": wavefronts " took[order[i]] ", ideal " ideal[order[i]] }'
