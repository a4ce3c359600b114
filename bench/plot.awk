# plot.awk - what the scripts that draw (bs1d_plot.sh, bs3d_plot.sh, lsmc_plot.sh, batch_plot.sh) share, in front of
# their own text: awk "$(cat plot.awk)"'...'
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
# The first line of a results file, without its mark.
function comment(line) { sub(/^# */, "", line); return line }

# The picture to its title; light and dark are rules of style beyond those that all have. Ends with print "</svg>".
function begin(width, height, label, title, light, dark) {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" ", width, height
    printf "aria-label=\"%s\">\n<style>\n", label
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
    # A ground of its own: the page may be dark where the system is light.
    printf "<rect width=\"%d\" height=\"%d\" rx=\"6\" class=\"ground\"/>\n", width, height
    text(16, 24, "title", title)
}
# Lines and points of color k (stroke c, fill d) from lists of colors.
function colors(list,   color, count, k, css) {
    count = split(list, color, " ")
    for (k = 1; k <= count; k++) css = css sprintf(".c%d { stroke: %s } .d%d { fill: %s }\n", k, color[k], k, color[k])
    sub(/\n$/, "", css)
    return css
}

# Bars in two precisions.
function bars_light() { return ".f32 { fill: #2f6fbd } .f64 { fill: #c8691c }" }
function bars_dark() { return ".f32 { fill: #5b9be6 } .f64 { fill: #e8914a }" }
function bars_legend(left, y) {
    box(left, y - 10, 12, 12, "f32")
    text(left + 18, y, "small", "single precision")
    box(left + 130, y - 10, 12, 12, "f64")
    text(left + 148, y, "small", "double precision")
}
