#!/bin/sh
# pictures.sh - draws all pictures of the documents, from results files and from the headers.
# MIT licence, see LICENSE.
#
#     sh bench/pictures.sh [FOLDER]      into docs, or into another folder
#
# Plots are drawn from files in docs/results. Diagrams are drawn by bench/diagrams.cc, which asks the headers where
# things lie. The script needs a C++ compiler (CXX names it) and no GPU. tests/text.sh checks that the pictures in docs
# are what this script draws. Run from the top folder.
set -eu
to=${1:-docs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Reads the first lines of a results file, and where its columns are: $at["name"] is a field.
reading='
    FNR == 1 { columns = 0 }
    /^#/ { if (!machine) machine = comment($0); else if (!copy && /copy of/) copy = comment($0); next }
    !columns { for (k in at) delete at[k]; columns = NF; for (k = 1; k <= NF; k++) at[$k] = k; next }'

# draw NAME FILE...: draws by the awk program on standard input, with plot.awk in front of it
draw() {
    name=$1
    shift
    { cat bench/plot.awk && echo "$reading" && cat; } >"$work/$name.awk"
    awk -F, -f "$work/$name.awk" "$@" >"$to/$name.svg"
}

# ---- trid/batch.h, cuSPARSE, cuSolverDx: the README's plot -----------------------------------------------------------

# Contiguous systems of 16 to 1024 rows.
draw share docs/results/trid_batch-h200.csv docs/results/cusolverdx-h200.csv <<'AWK'
function across(p, n) { return left[p] + (right[p] - left[p]) * log(n / low) / log(high / low) }
function down(share) { return under - (under - above) * share / 120 }
BEGIN {
    low = 16; high = 1024
    kind["solve"] = 1; kind["cusolverdx_gtsv_no_pivot"] = 2; kind["cusparse_gtsv2StridedBatch"] = 3
    kind["cusolverdx_one_thread"] = 4
    label[1] = "trid_batch_solve, this kit"; label[2] = "cuSolverDx, gtsv_no_pivot"
    label[3] = "cuSPARSE, gtsv2StridedBatch"
}
$at["n"] > high || $at["n"] < low { next }
$at["layout"] == "contiguous_any" && $at["operation"] == "solve" {
    p = $at["precision"] == "f64"
    any_n[p, ++any[p]] = $at["n"]; any_share[p, any[p]] = $at["pct_of_copy"]
}
$at["layout"] == "contiguous" && ($at["operation"] in kind) {
    p = $at["precision"] == "f64"; k = kind[$at["operation"]]
    n_of[p, k, ++count[p, k]] = $at["n"]; share_of[p, k, count[p, k]] = $at["pct_of_copy"]
}
END {
    if (!count[0, 1] || !count[1, 1] || !count[0, 2] || !count[0, 3]) fail("no solves in these files")
    sub(/, .*/, "", machine)
    begin(860, 370, "Speed of solving batches of tridiagonal systems as a share of the speed of copying memory, by rows a system: this kit, cuSolverDx, cuSPARSE", \
        "Solving a batch of tridiagonal systems on an " machine, \
        colors("#2f6fbd #1a7f37 #c8691c"), colors("#5b9be6 #57ab5a #e8914a"))
    text(16, 42, "small", "Bytes a second (a, b, c, d read once, x written once), as a share of a copy's on the same GPU;")
    text(16, 57, "small", "2^27 rows in all; small points: other lengths")
    above = 92; under = 304
    for (p = 0; p < 2; p++) {
        left[p] = p ? 478 : 58; right[p] = p ? 836 : 416
        text(left[p], above - 10, "small", p ? "double precision" : "single precision")
        for (share = 0; share <= 120; share += 20) {
            rule(left[p], down(share), right[p], down(share), share == 100 ? "limit" : "grid")
            text(left[p] - 6, down(share) + 4, "level", share " %")
        }
        for (n = low; n <= high; n *= 2) {
            rule(across(p, n), under, across(p, n), under + 4, "grid")
            text(across(p, n), under + 17, "tick", n)
        }
        text((left[p] + right[p]) / 2, under + 34, "tick", "rows in a system")
        for (k = 1; k <= any[p]; k++) dot(across(p, any_n[p, k]), down(any_share[p, k]), 1.5, "d1")
        for (k = 3; k >= 1; k--) {
            line = ""
            for (i = 1; i <= count[p, k]; i++) {
                x = across(p, n_of[p, k, i]); y = down(share_of[p, k, i])
                line = line sprintf("%.1f,%.1f ", x, y)
                dot(x, y, 3, "d" k)
            }
            printf "<polyline points=\"%s\" class=\"line c%d\"/>\n", line, k
        }
        for (i = 1; i <= count[p, 4]; i++) {
            x = across(p, n_of[p, 4, i]); y = down(share_of[p, 4, i])
            dot(x, y, 3, "d2")
            text(x + 7, y + 4, "small", "one thread per system")
        }
    }
    x = 58
    for (k = 1; k <= 3; k++) {
        dot(x, 354, 4, "d" k)
        text(x + 10, 358, "value", label[k])
        x += 200
    }
    rule(x - 6, 354, x + 18, 354, "limit")
    text(x + 24, 358, "value", "a copy")
    print "</svg>"
}
AWK

# ---- trid/batch.h: every routine, both layouts, all lengths ----------------------------------------------------------

draw batch docs/results/trid_batch-h200.csv docs/results/cusolverdx-h200.csv <<'AWK'
# Each routine has its own color, and a column of the legend.
function series(column, name, label, points) {
    order[++kinds] = name
    color_of[name] = kinds; label_of[name] = label; column_of[name] = column; points_only[name] = points
}
function across(panel, n) {
    return left[panel] + (right[panel] - left[panel]) * log(n / low[panel]) / log(high[panel] / low[panel])
}
function down(panel, share) { return under[panel] - (under[panel] - above[panel]) * share / top }
BEGIN {
    series(0, "solve", "trid_batch_solve")
    series(0, "solve_pivoted", "trid_batch_pivoted")
    series(0, "cusolverdx_gtsv_no_pivot", "cuSolverDx gtsv_no_pivot", 1)
    series(0, "cusolverdx_one_thread", "cuSolverDx, one thread per system", 1)
    series(1, "cusparse_gtsv2StridedBatch", "cuSPARSE gtsv2StridedBatch")
    series(1, "cusparse_gtsv2", "cuSPARSE gtsv2")
    series(1, "cusparse_gtsv2_nopivot", "cuSPARSE gtsv2_nopivot")
    series(2, "cusparse_gtsvInterleavedBatch_0", "cuSPARSE gtsvInterleavedBatch, algorithm 0")
    series(2, "cusparse_gtsvInterleavedBatch_1", "cuSPARSE gtsvInterleavedBatch, algorithm 1")
    series(2, "cusparse_gtsvInterleavedBatch_2", "cuSPARSE gtsvInterleavedBatch, algorithm 2")
    panel_of["contiguous"] = panel_of["contiguous_any"] = panel_of["long"] = 1
    panel_of["interleaved"] = panel_of["long_interleaved"] = 2
    top = 120
}
!($at["layout"] in panel_of) || !($at["operation"] in color_of) { next }
{
    p = panel_of[$at["layout"]] + ($at["precision"] == "f64" ? 2 : 0)
    name = $at["operation"]; n = $at["n"] + 0; share = $at["pct_of_copy"] + 0
    if (n > high[p]) high[p] = n
    while (!low[p] || low[p] > n) low[p] = low[p] ? low[p] / 2 : 1024
    if ($at["layout"] == "contiguous_any") name = "any"
    count[p, name]++
    # Sorted by size, whatever the order in the file.
    for (k = count[p, name]; k > 1 && size[p, name, k - 1] > n; k--) {
        size[p, name, k] = size[p, name, k - 1]; value[p, name, k] = value[p, name, k - 1]
    }
    size[p, name, k] = n; value[p, name, k] = share
    rows++
}
END {
    if (!rows) fail("no solves in these files")
    width = 860; height = 694
    begin(width, height, "Share of copy speed by rows a system, for trid/batch.h, cuSPARSE and cuSolverDx", \
        "Solving arrays of tridiagonal systems: speed as a share of a copy's, by rows in a system", \
        colors("#2f6fbd #c8691c #6639ba #a475f9 #8c959f #a05a2c #1a7f37 #1b7c83 #bf3989 #bf8700"), \
        colors("#5b9be6 #e8914a #986ee2 #cbb2ff #768390 #c9875a #57ab5a #39c5cf #f778ba #e3b341"))
    text(16, 42, "small", machine)
    text(16, 57, "small", copy "; 2^27 elements an array; small points: forty other lengths")
    for (p = 1; p <= 4; p++) {
        if (!high[p]) continue
        left[p] = p % 2 ? 48 : 504; right[p] = p % 2 ? 456 : 836
        above[p] = p < 3 ? 92 : 360; under[p] = above[p] + 200
        text(left[p], above[p] - 8, "small", \
            (p % 2 ? "contiguous (system after system), " : "interleaved (row after row), ") \
            (p < 3 ? "single" : "double") " precision")
        for (share = 0; share <= top; share += 20) {
            rule(left[p], down(p, share), right[p], down(p, share), share == 100 ? "limit" : "grid")
            text(left[p] - 6, down(p, share) + 4, "level", share " %")
        }
        step = high[p] / low[p] > 16384 ? 16 : 2
        for (n = low[p]; n <= high[p]; n *= step) {
            rule(across(p, n), under[p], across(p, n), under[p] + 4, "grid")
            text(across(p, n), under[p] + 16, "tick", n <= 4096 ? n : sprintf("2^%.0f", log(n) / log(2)))
        }
        text((left[p] + right[p]) / 2, under[p] + 32, "tick", "rows in a system")
        for (k = 1; k <= count[p, "any"]; k++) dot(across(p, size[p, "any", k]), down(p, value[p, "any", k]), 1.5, "d1")
        for (i = 1; i <= kinds; i++) {
            name = order[i]
            line = ""
            for (k = 1; k <= count[p, name]; k++) {
                x = across(p, size[p, name, k]); y = down(p, value[p, name, k])
                line = line sprintf("%.1f,%.1f ", x, y)
                dot(x, y, 3, "d" color_of[name])
            }
            if (count[p, name] > 1 && !points_only[name])
                printf "<polyline points=\"%s\" class=\"line c%d\"/>\n", line, color_of[name]
            if (count[p, name]) shown[name] = 1
        }
    }
    for (i = 1; i <= kinds; i++) {
        name = order[i]
        if (!shown[name]) continue
        x = 48 + 260 * column_of[name]; y = height - 68 + 18 * listed[column_of[name]]++
        dot(x, y - 4, 4, "d" color_of[name])
        text(x + 10, y, "small", label_of[name])
    }
    print "</svg>"
}
AWK

# ---- bs1d.h: shares of the arithmetic peak ---------------------------------------------------------------------------

# Draws the smallest batch of the file, which is that of the paper.
draw bs1d docs/results/bs1d-h200.csv <<'AWK'
BEGIN {
    split("explicit1 explicit2 explicit3 implicit1 implicit2 implicit3 implicit4 implicit4_increment", rung, " ")
    split("one point per thread|8 points in each lane|many steps composed into one|a new matrix each step|" \
        "implicit1 in increment form|factored once|factored, no needless PCR|implicit4 in increment form", word, "|")
    for (k = 1; k in rung; k++) words[rung[k]] = word[k]
}
$at["pct_of_peak"] == "" { next }
{
    options = $at["options"] + 0
    if (!smallest || options < smallest) { smallest = options; bars = 0; split("", seen) }
    if (options > smallest) next
    name = $at["kernel"]; precision = $at["precision"]
    if (!(name in seen)) { seen[name] = 1; bar_name[++bars] = name; bar_words[bars] = words[name] }
    bar_share[name, precision] = $at["pct_of_peak"] + 0
    bar_note[name, precision] = sprintf("%.0f %%, %.3g ms", $at["pct_of_peak"], $at["ms_median"])
    size = $at["points"] " points, 50000 explicit or 2500 implicit steps"
}
END {
    if (!bars) fail("no shares of a peak in this file")
    bar_chart("bs1d.h: pricing " smallest " options on one asset, rung by rung", \
        "Share of the arithmetic peak by rung of bs1d.h", \
        "share of the arithmetic peak, counting the operations of the plain step; a rung that needs fewer can exceed 100 %", \
        machine, size)
}
AWK

# ---- bs3d.h: shares of the memory's limit ----------------------------------------------------------------------------

# Draws the first grid of the file, which is that of the paper.
draw bs3d docs/results/bs3d_timing-h200.csv <<'AWK'
BEGIN {
    split("explicit1 explicit2 explicit3 explicit4 implicit1 implicit2 implicit3", rung, " ")
    split("one column per thread|neighbours kept in registers|planes in shared memory|two steps in one sweep|" \
        "four kernels a step|one sweep up, one down|one sweep a step", word, "|")
    for (k = 1; k in rung; k++) words[rung[k]] = word[k]
}
$at["pct_of_limit"] == "" { next }
!points { points = $at["nx"] }
$at["nx"] != points || $at["ny"] != points || $at["nz"] != points { next }
{
    name = $at["kernel"]; precision = $at["precision"]
    if (!(name in seen)) { seen[name] = 1; bar_name[++bars] = name; bar_words[bars] = words[name] }
    bar_share[name, precision] = $at["pct_of_limit"] + 0
    bar_note[name, precision] = sprintf("%.0f %%, %.3g ms (limit %.3g)", $at["pct_of_limit"], \
        $at["ms_median"], $at["ms_median"] * $at["pct_of_limit"] / 100)
    steps[substr(name, 1, 8)] = $at["steps"]
}
END {
    if (!bars) fail("no shares of a limit in this file")
    bar_chart("bs3d.h: pricing an option on three assets, " points "³ points, rung by rung", \
        "Share of the limit set by memory, by rung of bs3d.h", \
        "time that memory needs to move the bytes of the steps (the limit), as a share of the measured time", \
        machine, steps["explicit"] " explicit or " steps["implicit"] " implicit steps; " copy)
}
AWK

# ---- american_lsmc: microseconds a date ------------------------------------------------------------------------------

# Both axes are logarithmic: a cost that all scenarios share is a level line, and a cost of each scenario rises by a
# square of the grid for each square across.
draw american_lsmc docs/results/american_lsmc-h200.csv <<'AWK'
function across(n) { return left + column * log(n) / log(2) }
function down(us) { return above + column * (log(top) - log(us)) / log(2) }
BEGIN {
    split("three two_atomic two one graph_two graph_one whole bridge", rung, " ")
    split("three kernels a date|two kernels a date, sums by atomics|two kernels a date|one kernel a date|" \
        "two, as a CUDA graph|one, as a CUDA graph|one kernel for all dates|whole, and paths drawn on the way", \
        word, "|")
    for (k = 1; k in rung; k++) words[rung[k]] = word[k]
}
$at["part"] != "ladder" || $at["stream"] != "user" || $at["degree"] != 2 { next }
{
    method = $at["method"]; n = $at["scenarios"] + 0; us = $at["us_per_date"] + 0
    if (!(method in points)) name[++methods] = method
    points[method]++
    place[method, points[method]] = n; time[method, points[method]] = us
    if (n > most) most = n
    if (us > high) high = us
    if (!low || us < low) low = us
    size = $at["paths"] " paths, " $at["dates"] " exercise dates"
}
END {
    if (!methods) fail("no ladder of degree 2 in this file")
    for (top = 1; top < high; top *= 2) {}
    for (bottom = top; bottom > low; bottom /= 2) {}
    left = 84; above = 74; column = 72
    right = across(most); under = down(bottom); height = under + 54
    width = 860
    begin(width, height, "Microseconds per exercise date by number of scenarios, for each rung", \
        "American options by Monte Carlo: time of an exercise date, rung by rung", \
        colors("#6e7781 #a05a2c #2f6fbd #6639ba #5b9be6 #8250df #c8691c #1a7f37"), \
        colors("#909dab #c9875a #5b9be6 #986ee2 #96c4f5 #cbb2ff #e8914a #57ab5a"))
    text(16, 42, "small", machine)
    text(16, 57, "small", size " each, double precision, polynomials of degree 2; each label ends with the last value of its line")
    for (n = 1; n <= most; n *= 2) {
        rule(across(n), above, across(n), under, "grid")
        text(across(n), under + 16, "tick", n)
    }
    text((left + right) / 2, under + 36, "tick", "scenarios (options priced together)")
    upright(26, (above + under) / 2, "microseconds an exercise date")
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
        for (k = 1; k <= last[m]; k++) dot(across(place[name[m], k]), down(time[name[m], k]), 3, "d" m)
        label[m] = down(time[name[m], last[m]]) + 4
        order[m] = m
    }
    # Labels from the top down, each below the previous one.
    for (i = 2; i <= methods; i++)
        for (j = i; j > 1 && label[order[j]] < label[order[j - 1]]; j--) {
            kept = order[j]; order[j] = order[j - 1]; order[j - 1] = kept
        }
    y = above - 20
    for (i = 1; i <= methods; i++) {
        m = order[i]
        y = label[m] > y + 15 ? label[m] : y + 15
        text(right + 12, y, "value w" m, sprintf("%s: %s, %.1f", name[m], words[name[m]], time[name[m], last[m]]))
    }
    print "</svg>"
}
AWK

# ---- pde/adi2d.h: local volatility -----------------------------------------------------------------------------------

# A panel for each data set, with bars on a logarithmic scale. The first file gives the program in C and its port to the
# GPU, plain and coalesced; the second gives the versions of pde/adi2d.h.
draw adi2d docs/results/locvol_variants-h200.csv docs/results/locvol_timing-h200.csv <<'AWK'
function across(ms) { return (right - left) * log(ms / least) / log(most / least) }
BEGIN {
    label["sequential"] = "C, one core"; label["port_naive"] = "GPU, a plain port"
    label["port_coalesced"] = "GPU, port, coalesced"; label["host"] = "pde/adi2d.h on the host"
    label["naive"] = "pde/adi2d.h, naive"; label["coalesced"] = "pde/adi2d.h, coalesced"
    label["onchip"] = "pde/adi2d.h, all on chip"
    versions = split("sequential port_naive port_coalesced host naive coalesced onchip", version, " ")
    least = 1e30; most = 0
}
{
    name = $at["version"]
    if ("weights" in at) {
        if (name == "one_loop" || (name == "naive" && $at["weights"] != "global")) next
        if (name == "coalesced" && $at["weights"] != "all") next
        if (name != "sequential") name = "port_" name
    }
    if (!(name in label)) next
    set = $at["dataset"]
    if (!(set in seen)) {
        seen[set] = 1; sets[++panels] = set
        size[set] = $at["outer"] " options of " $at["numx"] " x " $at["numy"] " points, " $at["numt"] - 1 " steps"
    }
    value = $at["ms_median"] + 0
    ms[set, name, $at["precision"]] = value
    if (value < least) least = value
    if (value > most) most = value
}
END {
    if (!panels) fail("no times in these files")
    least = 10 ^ int(log(least) / log(10) - (least < 1)); most = 10 ^ (int(log(most) / log(10)) + 1)
    bar = 10; band = 30; left = 190; right = 760; tall = band * versions + 80
    begin(860, 64 + tall * panels + 20, "Milliseconds of each version on the benchmark of local volatility", \
        "pde/adi2d.h: calibrating local volatility, milliseconds by version", bars_light(), bars_dark())
    text(16, 42, "small", machine)
    for (s = 1; s <= panels; s++) {
        set = sets[s]; top = 64 + tall * (s - 1)
        text(left, top + 12, "small", set ": " size[set])
        for (tick = least; tick <= most * 1.001; tick *= 10) {
            x = left + across(tick)
            rule(x, top + 20, x, top + 24 + band * versions, "grid")
            text(x, top + 38 + band * versions, "tick", tick)
        }
        text((left + right) / 2, top + 54 + band * versions, "tick", "milliseconds, on a logarithmic scale")
        for (v = 1; v <= versions; v++) {
            y = top + 26 + band * (v - 1)
            text(left - 10, y + bar + 4, "name", label[version[v]])
            for (p = 0; p < 2; p++) {
                class = p ? "f64" : "f32"
                if (!((set, version[v], class) in ms)) continue
                value = ms[set, version[v], class]
                box(left, y + p * (bar + 1), across(value), bar, class)
                text(left + across(value) + 5, y + p * (bar + 1) + 9, "value", sprintf(value < 1000 ? "%.3g" : "%.0f", value))
            }
        }
    }
    bars_legend(left, 64 + tall * panels + 6)
    print "</svg>"
}
AWK

# ---- pde/adi3d.h: a slice of a solution ------------------------------------------------------------------------------

# Values along x at some y of the grid. Dashed: the payoff of immediate exercise, max(K - (x + y + z) / 3, 0). The option
# is exercised at x = y = 0, so the value there is K - z / 3.
draw adi3d docs/results/adi3d_basket-slice.csv <<'AWK'
function across(x) { return left + (right - left) * x / most }
function down(value) { return under - (under - above) * value / top }
BEGIN { lines = split("30 60 80 100 120 150", wanted, " "); most = 240; top = 60 }
$at["x"] == 0 { y_of[++rows] = $at["y"] + 0 }
{
    x = $at["x"] + 0; here = $at["value"] + 0
    if (x > most && last < most) { # to the edge of the picture
        here = before + (here - before) * (most - last) / (x - last)
        x = most
    }
    if (x > most) next
    if (rows == 1) x_of[++points] = x
    value[rows, ++seen[rows]] = before = here
    last = x
}
END {
    if (!rows) fail("no values in this file")
    left = 64; right = 836; above = 74; under = 354
    begin(860, 412, "Value of an American put on the average of three assets along the first, for some values of the second", \
        "pde/adi3d.h: an American put on the average of three assets, a slice of the solution", \
        colors("#2f6fbd #c8691c #1a7f37 #6639ba #a05a2c #6e7781") "\n.gain { stroke-dasharray: 3 4; stroke-width: 1 }", \
        colors("#5b9be6 #e8914a #57ab5a #986ee2 #c9875a #909dab"))
    split(machine, said, "; ")
    text(16, 42, "small", said[1] "; " said[2])
    text(16, 57, "small", "solid: the value along x for six y; dashed: the payoff of immediate exercise")
    for (x = 0; x <= most; x += 40) {
        rule(across(x), above, across(x), under, "grid")
        text(across(x), under + 16, "tick", x)
    }
    for (v = 0; v <= top; v += 10) {
        rule(left, down(v), right, down(v), "grid")
        text(left - 8, down(v) + 4, "level", v)
    }
    text((left + right) / 2, under + 36, "tick", "price of the first asset, x")
    upright(22, (above + under) / 2, "value of the put")
    box(right - 132, above + 8, 124, 18 * lines + 26, "ground")
    text(right - 120, above + 24, "small", "second asset")
    for (k = 1; k <= lines; k++) {
        r = 1
        for (m = 2; m <= rows; m++)
            if ((y_of[m] - wanted[k]) ^ 2 < (y_of[r] - wanted[k]) ^ 2) r = m
        line = ""
        for (i = 1; i <= points; i++) line = line sprintf("%.1f,%.1f ", across(x_of[i]), down(value[r, i]))
        printf "<polyline points=\"%s\" class=\"line c%d\"/>\n", line, k
        gain = value[1, 1] - y_of[r] / 3
        end = 3 * gain < most ? 3 * gain : most
        rule(across(0), down(gain), across(end), down(gain - end / 3), "gain c" k)
        rule(right - 120, above + 18 * k + 20, right - 100, above + 18 * k + 20, "line c" k)
        text(right - 92, above + 18 * k + 24, "value", sprintf("y = %.1f", y_of[r]))
    }
    print "</svg>"
}
AWK

# ---- diagrams --------------------------------------------------------------------------------------------------------

"${CXX:-g++}" -std=c++17 -I. -w -x c++ -include tests/simt/simt.h -O0 -o "$work/diagrams" bench/diagrams.cc
"$work/diagrams" >"$work/drawn"
for name in $(sed -n 's/^picture	//p' "$work/drawn"); do
    { cat bench/plot.awk && cat <<'AWK'; } >"$work/diagram.awk"
$1 == "picture" { here = $2 == wanted; next }
!here { next }
$1 == "begin" {
    tints = "#2f6fbd #c8691c #1a7f37 #8c959f #bf3989 #6639ba #1b7c83 #9a6700"
    count = split(tints, tint, " ")
    for (k = 1; k <= count; k++) css = css sprintf(".t%d { fill: %s }\n", k, tint[k])
    css = css ".tint { fill-opacity: 0.32 } .hole { fill: #8c959f; fill-opacity: 0.14 }\n"
    css = css ".empty { fill: none; stroke: #8c959f; stroke-dasharray: 2 2 } .left { text-anchor: start }\n"
    css = css ".cell { font-size: 11px; text-anchor: middle } .edge, .arrow { stroke: #8c959f; stroke-width: 1.5 }\n"
    css = css ".faint { stroke: #8c959f; stroke-opacity: 0.45 } .chosen { stroke: #c8691c; stroke-width: 2 }\n"
    begin($2, $3, $4, $5, css ".d1 { fill: #2f6fbd } .d2 { fill: #c8691c } .d4 { fill: #8c959f }", \
        ".d1 { fill: #5b9be6 } .d2 { fill: #e8914a } .chosen { stroke: #e8914a } .tint { fill-opacity: 0.5 }")
}
$1 == "box" { box($2, $3, $4, $5, $6) }
$1 == "text" { text($2, $3, $4, $5) }
$1 == "dot" { dot($2, $3, $4, $5) }
$1 == "rule" {
    rule($2, $3, $4, $5, $6)
    if ($6 == "arrow") { # its head: two strokes, back along the line and to the sides
        long = sqrt(($4 - $2) ^ 2 + ($5 - $3) ^ 2)
        along = 6 * ($4 - $2) / long; aside = 6 * ($5 - $3) / long
        rule($4, $5, $4 - along - aside / 2, $5 - aside + along / 2, $6)
        rule($4, $5, $4 - along + aside / 2, $5 - aside - along / 2, $6)
    }
}
END { print "</svg>" }
AWK
    awk -F '\t' -v wanted="$name" -f "$work/diagram.awk" "$work/drawn" >"$to/$name.svg"
done
