#!/bin/sh
# bs3d_plot.sh - the ladder of bs3d.h as a picture: each rung's time against its limit, in both precisions.
# MIT licence, see LICENSE.
#
#     sh bench/bs3d_plot.sh docs/results/bs3d_timing-h200.csv [POINTS] >docs/bs3d.svg
#
# The file is what "bs3d_timing --csv" writes; of its grids the one with so many points on each axis is drawn, by
# default the first. A bar is the limit's time as a share of the rung's; it may pass 100 %, since the limit counts one
# reading and one writing of the array for each explicit step, and a rung may do with less.
set -eu
awk -F, -v wanted="${2:-0}" "$(cat "${0%/*}/plot.awk")"'
    /^#/ { if (!machine) machine = comment($0); else if (/copy/) copy = comment($0); next }
    !columns { columns = NF; for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["pct_of_limit"] == "" { next }
    !wanted { wanted = $at["nx"] }
    $at["nx"] != wanted || $at["ny"] != wanted || $at["nz"] != wanted { next }
    {
        name = $at["kernel"]; precision = $at["precision"]
        if (!(name in seen)) { seen[name] = 1; kernel[++kernels] = name; steps[name] = $at["steps"] }
        share[name, precision] = $at["pct_of_limit"] + 0; ms[name, precision] = $at["ms_median"] + 0
        if (share[name, precision] > most) most = share[name, precision]
    }
    END {
        if (!kernels) { print "bs3d_plot.sh: no shares of a limit for such a grid in this file" >"/dev/stderr"; exit 1 }
        if (most < 100) most = 100
        step = most > 250 ? 100 : most > 125 ? 50 : 25
        top = step * int((most + step - 1e-9) / step)
        left = 160; right = 560; above = 84; bar = 13; band = 40
        height = above + band * kernels + 44
        scale = (right - left) / top
        begin(760, height, "Time of each rung of bs3d.h against its limit", \
            "bs3d.h: limit of the memory by time, " wanted "^3 points", bars_light(), bars_dark())
        text(16, 42, "small", machine)
        text(16, 57, "small", copy)
        for (tick = 0; tick <= top; tick += step) {
            x = left + scale * tick
            rule(x, above - 8, x, above + band * kernels, tick == 100 ? "limit" : "grid")
            text(x, above + band * kernels + 14, "tick", tick " %")
        }
        for (k = 1; k <= kernels; k++) {
            name = kernel[k]
            y = above + band * (k - 1) + 4
            text(left - 10, y + bar, "name", name)
            text(left - 10, y + bar + 13, "small name", steps[name] " steps")
            for (p = 0; p < 2; p++) {
                class = p ? "f64" : "f32"
                if (!((name, class) in share)) continue
                width = scale * share[name, class]
                box(left, y + p * (bar + 1), width, bar, class)
                text(left + width + 5, y + p * (bar + 1) + 10.5, "value", sprintf("%.0f %%, %.3g ms, limit %.3g", \
                    share[name, class], ms[name, class], ms[name, class] * share[name, class] / 100))
            }
        }
        bars_legend(left, height - 10)
        print "</svg>"
    }' "$1"
