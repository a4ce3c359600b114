#!/bin/sh
# bs1d_plot.sh - the ladder of bs1d.h as a picture: what each rung takes of the machine's peak, in both precisions.
# MIT licence, see LICENSE.
#
#     sh bench/bs1d_plot.sh docs/results/bs1d-h200.csv [OPTIONS] >docs/bs1d.svg
#
# The file is what "bs1d_timing --csv" writes; of its batches the one of so many options is drawn, by default the
# largest. A bar may pass 100 %: operations are counted as the plain rung would do them.
set -eu
awk -F, -v wanted="${2:-0}" "$(cat "${0%/*}/plot.awk")"'
    /^#/ { if (!machine) machine = comment($0); next }
    !columns { columns = NF; for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["pct_of_peak"] == "" { next }
    {
        rows++
        kernel[rows] = $at["kernel"]; precision[rows] = $at["precision"]; options[rows] = $at["options"] + 0
        share[rows] = $at["pct_of_peak"] + 0; ms[rows] = $at["ms_median"] + 0
        if (!wanted || (chosen_here && options[rows] > wanted)) { wanted = options[rows]; chosen_here = 1 }
    }
    END {
        if (!rows) { print "bs1d_plot.sh: no shares of a peak in this file" >"/dev/stderr"; exit 1 }
        most = 100
        for (r = 1; r <= rows; r++) {
            if (options[r] != wanted) continue
            if (!((kernel[r]) in seen)) { seen[kernel[r]] = 1; name[++kernels] = kernel[r] }
            value[kernel[r], precision[r]] = share[r]; time[kernel[r], precision[r]] = ms[r]
            if (share[r] > most) most = share[r]
        }
        if (!kernels) { print "bs1d_plot.sh: no rows with " wanted " options" >"/dev/stderr"; exit 1 }
        step = most > 250 ? 100 : most > 125 ? 50 : 25
        top = step * int((most + step - 1e-9) / step)
        left = 160; right = 640; above = 66; bar = 13; band = 40
        height = above + band * kernels + 44
        scale = (right - left) / top
        begin(760, height, "Share of the FMA peak by rung of bs1d.h", \
            "bs1d.h: share of the FMA peak, " wanted " options of 256 points", bars_light(), bars_dark())
        text(16, 42, "small", machine)
        for (tick = 0; tick <= top; tick += step) {
            x = left + scale * tick
            rule(x, above - 8, x, above + band * kernels, tick == 100 ? "limit" : "grid")
            text(x, above + band * kernels + 14, "tick", tick " %")
        }
        for (k = 1; k <= kernels; k++) {
            y = above + band * (k - 1) + 4
            label = name[k]; sub(/_/, " ", label)
            text(left - 10, y + bar + 5, "name", label)
            for (p = 0; p < 2; p++) {
                class = p ? "f64" : "f32"
                if (!((name[k], class) in value)) continue
                width = scale * value[name[k], class]
                box(left, y + p * (bar + 1), width, bar, class)
                text(left + width + 5, y + p * (bar + 1) + 10.5, "value", \
                    sprintf("%.0f %%, %.3g ms", value[name[k], class], time[name[k], class]))
            }
        }
        bars_legend(left, height - 10)
        print "</svg>"
    }' "$1"
