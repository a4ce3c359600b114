#!/bin/sh
# batch_plot.sh - arrays of systems as a picture: what share of a copy's speed each solver reaches, by rows a system.
# MIT licence, see LICENSE.
#
#     sh bench/batch_plot.sh docs/results/trid_batch-h200.csv docs/results/cusolverdx-h200.csv >docs/batch.svg
#
# The files are what "batch --csv" writes, and figures of others in the same columns, which are drawn as points. Four
# panels: contiguous and interleaved systems, in single and double precision. Sizes are logarithmic, and each panel goes
# as far as there are figures for it; above 1024 rows those of "long" systems.
set -eu
awk -F, "$(cat "${0%/*}/plot.awk")"'
    function series(name, label, color, points) {
        order[++kinds] = name
        color_of[name] = color; label_of[name] = label; points_only[name] = points
    }
    function across(panel, n) {
        return left[panel] + (right[panel] - left[panel]) * log(n / low[panel]) / log(high[panel] / low[panel])
    }
    function down(panel, share) { return under[panel] - (under[panel] - above[panel]) * share / top }
    BEGIN {
        series("solve", "trid_batch_solve", 1)
        series("solve_pivoted", "trid_batch_pivoted", 2)
        series("cusparse_gtsv2StridedBatch", "cuSPARSE gtsv2StridedBatch", 3)
        series("cusparse_gtsv2", "cuSPARSE gtsv2", 4)
        series("cusparse_gtsv2_nopivot", "cuSPARSE gtsv2_nopivot", 5)
        series("cusparse_gtsvInterleavedBatch_0", "gtsvInterleavedBatch 0", 3)
        series("cusparse_gtsvInterleavedBatch_1", "gtsvInterleavedBatch 1", 4)
        series("cusparse_gtsvInterleavedBatch_2", "gtsvInterleavedBatch 2", 5)
        series("cusolverdx_gtsv_no_pivot", "cuSolverDx gtsv_no_pivot", 6, 1)
        series("cusolverdx_one_thread", "cuSolverDx, one thread", 7, 1)
        panel_of["contiguous"] = panel_of["contiguous_any"] = panel_of["long"] = 1
        panel_of["interleaved"] = panel_of["long_interleaved"] = 2
        top = 120
    }
    FNR == 1 { columns = 0 }
    /^#/ { if (!machine) machine = comment($0); else if (!copy && /copy of/) copy = comment($0); next }
    !columns { for (k in at) delete at[k]; columns = NF; for (k = 1; k <= NF; k++) at[$k] = k; next }
    !($at["layout"] in panel_of) || !($at["operation"] in color_of) { next }
    {
        p = panel_of[$at["layout"]] + ($at["precision"] == "f64" ? 2 : 0)
        name = $at["operation"]; n = $at["n"] + 0; share = $at["pct_of_copy"] + 0
        if (n > high[p]) high[p] = n
        while (!low[p] || low[p] > n) low[p] = low[p] ? low[p] / 2 : 1024
        if ($at["layout"] == "contiguous_any") name = "any"
        count[p, name]++
        # By size, also where the rows of the file are not.
        for (k = count[p, name]; k > 1 && size[p, name, k - 1] > n; k--) {
            size[p, name, k] = size[p, name, k - 1]; value[p, name, k] = value[p, name, k - 1]
        }
        size[p, name, k] = n; value[p, name, k] = share
        rows++
    }
    END {
        if (!rows) { print "batch_plot.sh: no solves in these files" >"/dev/stderr"; exit 1 }
        width = 860; height = 660
        begin(width, height, "Share of copy speed by rows a system, for trid_batch.h, cuSPARSE and cuSolverDx", \
            "trid_batch.h: share of the speed of a copy, by rows a system", \
            colors("#2f6fbd #c8691c #8c959f #a05a2c #1a7f37 #6639ba #a475f9"), \
            colors("#5b9be6 #e8914a #768390 #c9875a #57ab5a #986ee2 #cbb2ff"))
        text(16, 42, "small", machine)
        text(16, 57, "small", copy ", 2^27 elements an array; small points: forty other lengths")
        for (p = 1; p <= 4; p++) {
            if (!high[p]) continue
            left[p] = p % 2 ? 48 : 504; right[p] = p % 2 ? 456 : 836
            above[p] = p < 3 ? 92 : 352; under[p] = above[p] + 200
            text(left[p], above[p] - 8, "small", \
                (p % 2 ? "contiguous" : "interleaved") ", " (p < 3 ? "single" : "double") " precision")
            for (share = 0; share <= top; share += 20) {
                rule(left[p], down(p, share), right[p], down(p, share), share == 100 ? "limit" : "grid")
                text(left[p] - 6, down(p, share) + 4, "level", share " %")
            }
            step = high[p] / low[p] > 16384 ? 4 : 2
            for (n = low[p]; n <= high[p]; n *= step) {
                rule(across(p, n), under[p], across(p, n), under[p] + 4, "grid")
                text(across(p, n), under[p] + 16, "tick", n <= 4096 ? n : sprintf("2^%.0f", log(n) / log(2)))
            }
            for (k = 1; k <= count[p, "any"]; k++)
                printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.5\" class=\"d1\"/>\n", across(p, size[p, "any", k]), \
                    down(p, value[p, "any", k])
            for (i = 1; i <= kinds; i++) {
                name = order[i]
                line = ""
                for (k = 1; k <= count[p, name]; k++) {
                    x = across(p, size[p, name, k]); y = down(p, value[p, name, k])
                    line = line sprintf("%.1f,%.1f ", x, y)
                    printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" class=\"d%d\"/>\n", x, y, color_of[name]
                }
                if (count[p, name] > 1 && !points_only[name])
                    printf "<polyline points=\"%s\" class=\"line c%d\"/>\n", line, color_of[name]
                if (count[p, name]) shown[name] = 1
            }
        }
        y = height - 54; x = 48
        for (i = 1; i <= kinds; i++) {
            if (!shown[order[i]]) continue
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"d%d\"/>\n", x, y - 4, color_of[order[i]]
            text(x + 10, y, "small", label_of[order[i]])
            x += 200
            if (x > width - 180) { x = 48; y += 18 }
        }
        print "</svg>"
    }' "$@"
