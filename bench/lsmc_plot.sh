#!/bin/sh
# lsmc_plot.sh - american_lsmc's ladder as a picture: time per exercise date by rung and number of scenarios.
# MIT licence, see LICENSE.
#
#     sh bench/lsmc_plot.sh docs/results/american_lsmc-h200.csv [DEGREE] >docs/american_lsmc.svg
#
# The file is what "american_lsmc --csv" writes; of its ladder the rows with that degree, by default 2, in a user stream
# are drawn. Both axes are logarithmic: what costs the same however many scenarios share it is a level line, and what
# costs so much for each one rises by a square.
set -eu
awk -F, -v degree="${2:-2}" "$(cat "${0%/*}/plot.awk")"'
    function across(n) { return left + column * log(n) / log(2) }
    function down(us) { return above + column * (log(top) - log(us)) / log(2) }
    /^#/ { if (!machine) machine = comment($0); next }
    !columns { columns = NF; for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["part"] != "ladder" || $at["stream"] != "user" || $at["degree"] != degree { next }
    {
        method = $at["method"]; n = $at["scenarios"] + 0; us = $at["us_per_date"] + 0
        if (!(method in points)) name[++methods] = method
        points[method]++
        place[method, points[method]] = n; time[method, points[method]] = us
        if (n > most) most = n
        if (us > high) high = us
        if (!low || us < low) low = us
        size = $at["paths"] " paths, " $at["dates"] " dates"
    }
    END {
        if (!methods) { print "lsmc_plot.sh: no ladder of degree " degree " in this file" >"/dev/stderr"; exit 1 }
        for (top = 1; top < high; top *= 2) {}
        for (bottom = top; bottom > low; bottom /= 2) {}
        left = 64; above = 74; column = 72
        right = across(most); under = down(bottom); height = under + 54
        width = right + 150
        begin(width, height, "Microseconds per exercise date by number of scenarios, for each rung", \
            "american_lsmc: microseconds per exercise date", \
            colors("#8c959f #a05a2c #2f6fbd #6639ba #5b9be6 #a475f9 #c8691c #1a7f37"), \
            colors("#768390 #c9875a #5b9be6 #986ee2 #96c4f5 #cbb2ff #e8914a #57ab5a"))
        text(16, 42, "small", machine)
        text(16, 57, "small", size " each, degree " degree)
        for (n = 1; n <= most; n *= 2) {
            rule(across(n), above, across(n), under, "grid")
            text(across(n), under + 16, "tick", n)
        }
        text((left + right) / 2, under + 36, "tick", "scenarios in a batch")
        for (us = bottom; us <= top; us *= 2) {
            rule(left, down(us), right, down(us), "grid")
            text(left - 8, down(us) + 4, "level", us)
        }
        for (m = 1; m <= methods; m++) {
            line = ""
            last[m] = points[name[m]]
            for (k = 1; k <= last[m]; k++)
                line = line sprintf("%.1f,%.1f ", across(place[name[m], k]), down(time[name[m], k]))
            printf "<polyline points=\"%s\" class=\"line c%d\"/>\n", line, m
            for (k = 1; k <= last[m]; k++)
                printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" class=\"d%d\"/>\n", across(place[name[m], k]), \
                    down(time[name[m], k]), m
            label[m] = down(time[name[m], last[m]]) + 4
            order[m] = m
        }
        # Labels from the top down, each below the one before it.
        for (i = 2; i <= methods; i++)
            for (j = i; j > 1 && label[order[j]] < label[order[j - 1]]; j--) {
                kept = order[j]; order[j] = order[j - 1]; order[j - 1] = kept
            }
        y = above - 20
        for (i = 1; i <= methods; i++) {
            m = order[i]
            y = label[m] > y + 14 ? label[m] : y + 14
            text(right + 12, y, "value d" m, name[m] sprintf(" %.3g", time[name[m], last[m]]))
        }
        print "</svg>"
    }' "$1"
