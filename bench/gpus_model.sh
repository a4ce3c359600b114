#!/bin/sh
# gpus_model.sh - evaluates docs/gpus.md's model of a step on several GPUs, beside the measurements and beyond them.
# MIT licence, see LICENSE.
#
#     sh bench/gpus_model.sh measured  RESULTS.csv LINKS.csv [BY]
#     sh bench/gpus_model.sh predicted RESULTS.csv LINKS.csv [BY [MICROSECONDS GBYTES_PER_S [PER_MESSAGE]]]
#
# The files are those of bench/bs3d_gpus --measure and --links; BY is nccl (the default) or copies. `measured` prints a
# row for each march that was measured. `predicted` assumes weak scaling: each of 64 and of 1024 GPUs has a slab of the
# size measured on one GPU. A GPU's network has the latency MICROSECONDS and the bandwidth GBYTES_PER_S (10 us, and 50
# GB/s, which is 400 Gbit/s). If a GPU sends to all others, each message costs PER_MESSAGE microseconds (1). There is a
# row for each way of solving across slabs. The tables are in docs/gpus.md.
set -eu
awk -F, -v what="$1" -v by="${4:-nccl}" -v net_us="${5:-10}" -v net_gb="${6:-50}" -v each="${7:-1}" '
    function fail(text) { print text > "/dev/stderr"; failed = 1; exit 1 }
    function positive(x) { return x > 0 ? x : 0 }
    /^#/ { next }
    /^(scaling|by),/ {
        links = $1 == "by"
        for (i = 1; i <= NF; i++) if (links) at[$i] = i; else at[$i] = at0[$i] = i
        next
    }
    links && $at["by"] == by {
        us = $at["us"] + 0; bytes = $at["bytes"] + 0
        if (!latency || us < latency) latency = us
        if (bytes / us > speed) speed = bytes / us # bytes a microsecond
    }
    links { next }
    $at["scaling"] == "one" && $at["engine"] ~ /^(adi|explicit)$/ {
        kind = $at["engine"] "," $at["precision"]
        if (!(kind in one)) order[++kinds] = kind
        one[kind] = 1000 * $at["ms_per_step"]; planes[kind] = $at["nz"]
        bytes_of_plane[kind] = ($at["precision"] == "f32" ? 4 : 8) * $at["nx"] * $at["ny"]
    }
    $at["by"] == by { row[++rows] = $0 }
    # Returns the microseconds of a step of a slab of planes_here planes. It sends its neighbours sent bytes a step, in
    # messages of this latency and rate; an explicit march sends once in deep steps.
    function step(kind, planes_here, neighbours, deep, sent, lat, rate,    extra, alone, message, every, inner) {
        every = kind ~ /^explicit/ ? deep : 1 # steps from message to message
        extra = kind ~ /^explicit/ ? neighbours * (deep - 2) / 2 : neighbours / 2
        alone = one[kind] * (planes_here + extra) / planes[kind]
        message = lat + every * sent / neighbours / rate
        inner = kind ~ /^explicit/ ? 2 * alone : alone / 4
        return alone + positive(message - inner) / every
    }
    function share(kind, us) { return sprintf("%.1f,%.1f", us, 100 * one[kind] / us) }
    END {
        if (failed) exit 1
        if (!latency || !kinds) fail("no links by " by ", or no rows of one GPU")
        if (what == "measured") {
            print "scaling,engine,precision,gpus,us_measured,us_model,pct_off"
            for (r = 1; r <= rows; r++) {
                split(row[r], f, ",")
                kind = f[at0["engine"]] "," f[at0["precision"]]
                gpus = f[at0["gpus"]]; measured = 1000 * f[at0["ms_per_step"]]
                neighbours = gpus > 2 ? 2 : 1
                model = step(kind, f[at0["nz"]] / gpus, neighbours, f[at0["deep"]], f[at0["bytes_sent_per_step"]],
                             latency, speed)
                printf "%s,%s,%d,%.1f,%.1f,%.1f\n", f[at0["scaling"]], kind, gpus, measured, model,
                       100 * (model / measured - 1)
            }
            exit
        }
        print "engine,precision,gpus,exchange,us_per_step,efficiency_pct"
        rate = 1000 * net_gb
        for (k = 1; k <= kinds; k++)
            for (gpus = 64; gpus <= 1024; gpus *= 16) {
                kind = order[k]; plane = bytes_of_plane[kind]
                printf "%s,%d,neighbours,%s\n", kind, gpus,
                       share(kind, step(kind, planes[kind], 2, 8, 2 * plane, net_us, rate)) # a halo of 8, the default
                if (kind !~ /^adi/) continue
                all = 2 * (net_us + each * (gpus - 1) + 2 * plane * (gpus - 1) / gpus / rate)
                tree = 2 * log(gpus) / log(2) * (net_us + 2 * plane / rate)
                halo = net_us + plane / rate # the plane beside a slab, which these must send as well
                printf "%s,%d,all-to-all,%s\n", kind, gpus, share(kind, one[kind] + all + halo)
                printf "%s,%d,tree,%s\n", kind, gpus, share(kind, one[kind] + tree + halo)
            }
    }' "$2" "$3" | awk -F, '{ gsub(/,/, " | "); print "| " $0 " |" } NR == 1 { gsub(/[^|]+/, "---"); print "|" $0 "|" }'
