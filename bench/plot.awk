# plot.awk - the functions that all pictures share. bench/pictures.sh puts it in front of each.
# MIT licence, see LICENSE.

function xml(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); return s }
function text(x, y, class, s) { printf "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>\n", x, y, class, xml(s) }
function rule(x, y, to_x, to_y, class) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x, y, to_x, to_y, class
}
function box(x, y, width, height, class) {
    printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" ", x, y, width, height
    printf "rx=\"2\" class=\"%s\"/>\n", class
}
function dot(x, y, radius, class) {
    printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"%s\"/>\n", x, y, radius, class
}
# Writes a label around (x, y) that reads upwards.
function upright(x, y, s) {
    printf "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\" ", x, y
    printf "transform=\"rotate(-90 %.1f %.1f)\">%s</text>\n", x, y, xml(s)
}
# Returns the first line of a results file without its mark.
function comment(line) { sub(/^# */, "", line); return line }
function fail(what) { print "pictures.sh: " what >"/dev/stderr"; failed = 1; exit 1 }

# Draws the picture down to its title. light and dark are style rules beyond those that all pictures have. The caller
# ends with print "</svg>".
function begin(width, height, label, title, light, dark) {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" ", width, height
    printf "aria-label=\"%s\">\n<style>\n", xml(label)
    print ".ground { fill: #ffffff }"
    print "text { font: 13px system-ui, sans-serif; fill: #24292f }"
    print ".title { font-size: 16px; font-weight: 600 }"
    print ".small { font-size: 11px; fill: #57606a }"
    print ".tick { font-size: 11px; fill: #57606a; text-anchor: middle }"
    print ".level { font-size: 11px; fill: #57606a; text-anchor: end }"
    print ".name { text-anchor: end }"
    print ".value { font-size: 11px; font-variant-numeric: tabular-nums }"
    print ".grid { stroke: #d0d7de } .limit { stroke: #57606a; stroke-dasharray: 4 3 }"
    print ".line { fill: none; stroke-width: 2 }"
    print light
    print "@media (prefers-color-scheme: dark) {"
    print ".ground { fill: #0d1117 } text { fill: #e6edf3 } .small, .tick, .level { fill: #9da7b1 }"
    print ".grid { stroke: #3d444d } .limit { stroke: #9da7b1 }"
    print dark
    print "}\n</style>"
    # The picture has its own ground, since the page may be dark where the system is light.
    printf "<rect width=\"%d\" height=\"%d\" rx=\"6\" class=\"ground\"/>\n", width, height
    text(16, 24, "title", title)
}

# Returns styles for lines (class c), points (d) and words (w) of color k, from a list of colors.
function colors(list,   color, count, k, css) {
    count = split(list, color, " ")
    for (k = 1; k <= count; k++) {
        css = css sprintf(".c%d { stroke: %s } .d%d { fill: %s } ", k, color[k], k, color[k])
        css = css sprintf("text.w%d { fill: %s }\n", k, color[k])
    }
    sub(/\n$/, "", css)
    return css
}

# The colors of single and double precision.
function bars_light() { return ".f32 { fill: #2f6fbd } .f64 { fill: #c8691c }" }
function bars_dark() { return ".f32 { fill: #5b9be6 } .f64 { fill: #e8914a }" }
function bars_legend(left, y) {
    box(left, y - 10, 12, 12, "f32")
    text(left + 18, y, "small", "single precision")
    box(left + 130, y - 10, 12, 12, "f64")
    text(left + 148, y, "small", "double precision")
}

# Draws bars in two precisions. bar_name[1 .. bars] and bar_words label them; bar_share and bar_note, by name and
# precision, give their lengths in per cent and the notes beside them. across labels the axis.
function bar_chart(title, label, across, first_note, second_note, \
        most, step, top, left, right, above, bar, band, scale, height, x, y, k, p, class, width, tick) {
    most = 100
    for (k in bar_share) if (bar_share[k] > most) most = bar_share[k]
    step = most > 250 ? 100 : most > 125 ? 50 : 25
    top = step * int((most + step - 1e-9) / step)
    left = 250; right = 640; above = 84; bar = 13; band = 40
    height = above + band * bars + 66
    scale = (right - left) / top
    begin(860, height, label, title, bars_light(), bars_dark())
    text(16, 42, "small", first_note)
    text(16, 57, "small", second_note)
    for (tick = 0; tick <= top; tick += step) {
        x = left + scale * tick
        rule(x, above - 8, x, above + band * bars, tick == 100 ? "limit" : "grid")
        text(x, above + band * bars + 14, "tick", tick " %")
    }
    text((left + right) / 2, above + band * bars + 32, "tick", across)
    for (k = 1; k <= bars; k++) {
        y = above + band * (k - 1) + 4
        text(left - 10, y + bar - 1, "name", bar_name[k])
        text(left - 10, y + bar + 13, "level", bar_words[k])
        for (p = 0; p < 2; p++) {
            class = p ? "f64" : "f32"
            if (!((bar_name[k], class) in bar_share)) continue
            width = scale * bar_share[bar_name[k], class]
            box(left, y + p * (bar + 1), width, bar, class)
            text(right + 12, y + p * (bar + 1) + 10.5, "value", bar_note[bar_name[k], class])
        }
    }
    bars_legend(left, height - 10)
    print "</svg>"
}
