#!/bin/sh
# bs1d_plot.sh - the ladder of bs1d.h as a picture: what each rung takes of the machine's peak, in both precisions.
# MIT licence, see LICENSE.
#
#     sh bench/bs1d_plot.sh docs/results/bs1d-h200.csv [OPTIONS] >docs/bs1d.svg
#
# The file is what "bs1d_timing --csv" writes; of its batches the one of so many options is drawn, by default the
# largest. A bar may pass 100 %: operations are counted as the plain rung would do them.
set -eu
awk -F, -v wanted="${2:-0}" '
    function xml(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); return s }
    function text(x, y, class, s) { printf "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>\n", x, y, class, xml(s) }
    /^#/ { if (!machine) { machine = $0; sub(/^# */, "", machine) } next }
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
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 %d\" role=\"img\" ", height
        printf "aria-label=\"Share of the FMA peak by rung of bs1d.h\">\n<style>\n"
        print ".ground { fill: #ffffff }"
        print "text { font: 13px system-ui, sans-serif; fill: #24292f }"
        print ".title { font-size: 16px; font-weight: 600 }"
        print ".small { font-size: 11px; fill: #57606a }"
        print ".tick { font-size: 11px; fill: #57606a; text-anchor: middle }"
        print ".name { text-anchor: end }"
        print ".value { font-size: 11px; font-variant-numeric: tabular-nums }"
        print ".grid { stroke: #d0d7de } .peak { stroke: #57606a; stroke-dasharray: 4 3 }"
        print ".f32 { fill: #2f6fbd } .f64 { fill: #c8691c }"
        print "@media (prefers-color-scheme: dark) {"
        print ".ground { fill: #0d1117 } text { fill: #e6edf3 } .small, .tick { fill: #9da7b1 }"
        print ".grid { stroke: #3d444d } .peak { stroke: #9da7b1 }"
        print ".f32 { fill: #5b9be6 } .f64 { fill: #e8914a }"
        print "}\n</style>"
        # A ground of its own: the page may be dark where the system is light.
        printf "<rect width=\"760\" height=\"%d\" rx=\"6\" class=\"ground\"/>\n", height
        text(16, 24, "title", "bs1d.h: share of the FMA peak, " wanted " options of 256 points")
        text(16, 42, "small", machine)
        for (tick = 0; tick <= top; tick += step) {
            x = left + scale * tick
            printf "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"%s\"/>\n", x, above - 8, x, \
                above + band * kernels, tick == 100 ? "peak" : "grid"
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
                printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\" class=\"%s\"/>\n", left, \
                    y + p * (bar + 1), width, bar, class
                text(left + width + 5, y + p * (bar + 1) + 10.5, "value", \
                    sprintf("%.0f %%, %.3g ms", value[name[k], class], time[name[k], class]))
            }
        }
        y = height - 10
        printf "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" rx=\"2\" class=\"f32\"/>\n", left, y - 10
        text(left + 18, y, "small", "single precision")
        printf "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" rx=\"2\" class=\"f64\"/>\n", left + 130, y - 10
        text(left + 148, y, "small", "double precision")
        print "</svg>"
    }' "$1"
