#!/bin/sh
# batch_bounds.sh - what limits trid/batch.h's kernels for 256 to 1024 rows, as the profiler counts it.
# MIT licence, see LICENSE.
#
#     sh bench/batch_bounds.sh build/bench/batch >docs/results/trid_batch-bounds-h200.csv
#
# One line an operation of bench/batch.cu, launched once:
#     ms, pct_of_copy       time under the profiler, which first empties the caches; the share of a copy's speed
#     blocks, registers     of the grid; of a thread
#     KiB_requested         shared memory for rows in flight, of all blocks of a multiprocessor
#     instructions          a thread's instructions for a row of the matrix, with all right-hand sides
#     issue, no_eligible    shares of the cycles in which a scheduler issued, and in which no warp was ready to issue
#     waits, cycles         the two main reasons why warps waited, and for how many cycles an instruction
#     memory_bus, fp64      shares of the cycles in which the bus moved data, and the double-precision pipe worked
#     occupied              share of their cycles in which the multiprocessors had a block
#     no_pause              the share of a copy's speed that the kernel would reach if its schedulers always issued
# Needs ncu (NCU names it) and a GPU whose counters it may read.
set -eu
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
counters=smsp__inst_executed.sum,gpu__time_duration.sum,sm__cycles_active.avg,gpc__cycles_elapsed.max
counters=$counters,dram__cycles_active.avg.pct_of_peak_sustained_elapsed
counters=$counters,sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active
for layout in contiguous interleaved; do
    "${NCU:-ncu}" --csv --page raw --print-units base --clock-control none --profile-from-start off \
        --section WarpStateStats --section SchedulerStats --section LaunchStats --section Occupancy \
        --metrics "$counters" --log-file "$work/counted-$layout" \
        "$program" --only $layout --profile >"$work/named-$layout" ||
        { cat "$work/named-$layout" >&2; exit 1; } # ncu's own errors too
done
sed -n '/^# NVIDIA/p' "$work/named-contiguous"
echo "# $("${NCU:-ncu}" --version | sed -n 's/^Version /ncu /p')"
printf 'operation,n,batch,layout,precision,ms,pct_of_copy,blocks,registers,KiB_requested,instructions,issue,no_eligible,'
echo 'waits_1,cycles_1,waits_2,cycles_2,memory_bus,fp64,occupied,no_pause'
for layout in contiguous interleaved; do
    # The profiler's rows are in the order of the program's lines.
    sed -n 's/^"//; s/"$//p' "$work/counted-$layout" | awk -F '","' -v named="$work/named-$layout" '
        function number(text) { gsub(/,/, "", text); return text + 0 }
        function get(metric) {
            if (!(metric in place)) { print "batch_bounds.sh: no " metric >"/dev/stderr"; exit 1 }
            return number($(place[metric]))
        }
        function reason(i) { sub(/.*stalled_/, "", i); sub(/_per_issue.*/, "", i); return i }
        BEGIN {
            while ((getline line <named) > 0) {
                if (line ~ /^# device-to-device/) { split(line, part, ": "); copy = part[2] + 0 }
                if (split(line, part, ",") == 5 && part[5] ~ /^f(32|64)/) name[++names] = line
            }
        }
        NR == 1 {
            for (i = 1; i <= NF; i++) {
                place[$i] = i
                if ($i ~ /issue_stalled.*per_issue_active/) why[i] = reason($i)
            }
        }
        NR < 3 { next } # columns, units
        {
            split(name[NR - 2], what, ",")
            for (order = 1; order <= 2; order++) {
                if (order == 1) first = 0
                best = 0
                for (i in why)
                    if (why[i] != "selected" && i != first && (!best || number($i) > number($best))) best = i
                waits[order] = why[best] "," sprintf("%.1f", number($best))
                first = best
            }
            elements = what[2] * what[3]
            sides = what[1] ~ /_[0-9]+$/ ? what[1] : 1
            sub(/.*_/, "", sides)
            arrays = what[1] ~ /shared/ ? 2 : 3 + 2 * sides
            ms = get("gpu__time_duration.sum") / 1e6
            pct = 100 * arrays * elements * (what[5] == "f64" ? 8 : 4) / (1e6 * ms) / copy
            issue = 100 * get("smsp__issue_active.avg.per_cycle_active")
            blocks = get("launch__occupancy_limit_registers")
            if (get("launch__occupancy_limit_shared_mem") < blocks) blocks = get("launch__occupancy_limit_shared_mem")
            printf "%s,%.4f,%.1f,%d,%d,%.0f,%.1f,%.0f,%.0f,%s,%s,%.0f,%.0f,%.1f,%.0f\n", name[NR - 2], ms, pct,
                get("launch__grid_size"), get("launch__registers_per_thread"),
                blocks * get("launch__shared_mem_per_block_dynamic") / 1024,
                get("smsp__inst_executed.sum") * 32 / elements, issue, 100 - issue, waits[1], waits[2],
                get("dram__cycles_active.avg.pct_of_peak_sustained_elapsed"),
                get("sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"),
                100 * get("sm__cycles_active.avg") / get("gpc__cycles_elapsed.max"), 100 * pct / issue
        }
        END { if (NR - 2 != names) { print "batch_bounds.sh: not one launch a line" >"/dev/stderr"; exit 1 } }'
done
