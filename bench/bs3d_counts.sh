#!/bin/sh
# bs3d_counts.sh - how many bytes the rungs of bs3d.h move over the memory bus and through L2, by the profiler's counts.
# MIT licence, see LICENSE.
#
#     sh bench/bs3d_counts.sh build/bs3d_timing [POINTS [RUNG ..]] >docs/results/bs3d-counts-h200.csv     (POINTS: 256)
#
# For each rung and precision it prints a line for each kernel and one for all of them, per point of the POINTS^3 grid
# and time step: bytes read and written over the bus, bytes through L2 (lts__t_bytes), and passes, which are the bytes
# over the bus in sizes of the array. It counts the difference between marches of 48 and 12 steps, so set-up and result
# do not count, and what a kernel leaves in L2 for a later one to write out counts once. Kernels see the caches as their
# predecessors left them: the caches are not flushed, and the program runs anew for each set of counters. Needs ncu (NCU
# names it) and a GPU whose counters it may read.
set -eu
program=$1 points=${2:-256} few=12 many=48
shift; [ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- explicit1 explicit2 explicit3 explicit4 implicit1 implicit2 implicit3

counted() { # counted RUNG PRECISION STEPS: a line "STEPS kernel launches read written l2" for each kernel
    "${NCU:-ncu}" --csv --print-units base --print-kernel-base function --clock-control none --cache-control none \
        --replay-mode application --metrics dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum \
        "$program" "$2" --size "$points" --rung "$1" --steps "$3" --runs 1 |
        awk -F '","' -v steps="$3" '
            /^"ID"/ { for (i = 1; i <= NF; i++) { sub(/"$/, "", $i); column[$i] = i }; next }
            /^==ERROR==/ { print >"/dev/stderr" }
            !/^"/ || !("Metric Name" in column) { next }
            {
                value = $(column["Metric Value"]); gsub(/[",]/, "", value)
                name = $(column["Kernel Name"]); metric = $(column["Metric Name"])
                if (!(name in seen)) { seen[name] = 1; order[++kernels] = name }
                if (metric ~ /read/) { read[name] += value; launches[name]++ }
                else if (metric ~ /write/) written[name] += value
                else l2[name] += value
            }
            END {
                for (k = 1; k <= kernels; k++) {
                    name = order[k]
                    printf "%d %s %d %.0f %.0f %.0f\n", steps, name, launches[name], read[name], written[name], l2[name]
                }
            }'
}

echo "# $("${NCU:-ncu}" --version | sed -n 's/^Version /ncu /p'), $points^3 points"
"$program" --size 16 --steps 1 --runs 1 --csv | sed -n '/^#.*copy/d; /^#/p'
printf 'kernel,precision,rung,launches_per_step,dram_read_bytes_per_point_step,dram_write_bytes_per_point_step,'
echo 'l2_bytes_per_point_step,passes'
for rung; do
    for precision in f32 f64; do
        { counted $rung $precision $few; counted $rung $precision $many; } |
            awk -v rung=$rung -v precision=$precision -v few=$few -v many=$many -v points="$points" '
                function row(name, launches, read, written, l2) {
                    printf "%s,%s,%s,%.4g,%.2f,%.2f,%.2f,%.2f\n", name, precision, rung, launches / (many - few), read,
                        written, l2, (read + written) / (precision == "f64" ? 8 : 4)
                }
                BEGIN { each = (many - few) * points ^ 3 }
                {
                    sign = $1 == many ? 1 : -1
                    if (!($2 in seen)) { seen[$2] = 1; order[++kernels] = $2 }
                    launches[$2] += sign * $3; read[$2] += sign * $4 / each; written[$2] += sign * $5 / each
                    l2[$2] += sign * $6 / each
                }
                END {
                    if (!kernels) { print "bs3d_counts.sh: nothing counted for " rung >"/dev/stderr"; exit 1 }
                    for (k = 1; k <= kernels; k++) {
                        name = order[k]
                        all[1] += launches[name]; all[2] += read[name]; all[3] += written[name]; all[4] += l2[name]
                        # Set-up and result are launched as often in either march, and do as much.
                        if (!launches[name] && l2[name] < 0.05) continue
                        row(name, launches[name], read[name], written[name], l2[name])
                    }
                    row("all", all[1], all[2], all[3], all[4])
                }'
    done
done
