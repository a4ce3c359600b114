# launches.awk - turns CUDA's additions to C++ into C++, for g++ and the emulator:
#
#     kernel<4, float><<<grid, block>>>(x)     simt_launch_of(kernel<4, float>, grid, block)(x)
#     extern __shared__ float name[];          float *const name = simt_dynamic_shared_as();
#
#     LC_ALL=C awk -f launches.awk mine.cu >mine.cc
#
# A launch may span lines. What looks like one in a comment or a string stays as it is. Lines keep their numbers.

# In `code`, blanks replace comments and strings, so that brackets and commas can be matched.
{
    code = code "\n" without_words($0)
    text = text "\n" $0
}

END {
    text = substr(text, 2)
    code = substr(code, 2)
    while (match(substr(code, done + 1), /<<<|(^|[^A-Za-z0-9_])extern[^A-Za-z0-9_]/)) {
        at = done + RSTART
        if (substr(code, at, 3) == "<<<")
            launch(at)
        else
            shared_array(at + (substr(code, at, 1) != "e"))
    }
    print "#line 1 \"" FILENAME "\""
    print made substr(text, done + 1)
}

# ---- comments and strings --------------------------------------------------------------------------------------------

# Returns the line with blanks for its comments, strings and characters. If one of these goes beyond the line, its_end
# is what ends it.
function without_words(line,    from, left, skip) {
    for (from = 1; from <= length(line); from += skip) {
        if (its_end != "") {
            skip = length_to_end(line, from)
            left = left blanks(skip)
            continue
        }
        if (!match(substr(line, from), /\/\/|\/\*|"|'/))
            return left substr(line, from)
        left = left substr(line, from, RSTART - 1)
        from += RSTART - 1
        skip = length_of_words(line, from)
        left = left (skip ? blanks(skip) : substr(line, from, 1))
        skip = skip ? skip : 1
    }
    return left
}

# Returns how much of the line, from there on, still belongs to the comment or string that its_end ends.
function length_to_end(line, from,    skip) {
    skip = index(substr(line, from), its_end)
    if (skip)
        skip += length(its_end) - 1
    if (skip || (its_end == "\n" && line !~ /\\$/))
        its_end = ""
    return skip ? skip : length(line) - from + 1
}

# Returns the length of the comment, string or character that begins there; 0 if none does.
function length_of_words(line, from,    before, rest) {
    before = substr(line, 1, from - 1)
    rest = substr(line, from)
    if (rest ~ /^\/\//) {
        if (line ~ /\\$/)
            its_end = "\n"
        return length(rest)
    }
    if (rest ~ /^\/\*/) {
        its_end = "*/"
        return 2
    }
    if (rest ~ /^"/ && before ~ /(^|[^A-Za-z0-9_])(u8|u|U|L)?R$/ && match(rest, /^"[^ ()\\]*\(/)) {
        its_end = ")" substr(rest, 2, RLENGTH - 2) "\""
        return RLENGTH
    }
    if (rest ~ /^'/ && before ~ /(^|[^A-Za-z0-9_'])[0-9][A-Za-z0-9_'.]*$/)
        return 0 # 1'000
    if (match(rest, /^"([^"\\]|\\.)*"/) || match(rest, /^'([^'\\]|\\.)*'/))
        return RLENGTH
    return length(rest)
}

function blanks(count) { return sprintf("%" count "s", "") }

# ---- launches --------------------------------------------------------------------------------------------------------

# Copies the text up to `to` to the result.
function copy_to(to) {
    made = made substr(text, done + 1, to - done)
    done = to
}

function launch(at,    first, end) {
    first = kernel_before(at)
    end = end_of_launch(at + 3)
    if (first > done && first < at && end) {
        copy_to(first - 1)
        made = made "simt_launch_of("
        copy_to(at - 1)
        made = made ", "
        done = at + 2
        copy_to(end - 1)
        made = made ")"
        done = end + 2
    } else {
        copy_to(at + 2) # no launch
    }
}

# Returns where >>> stands, outside all brackets; 0 if it does not.
function end_of_launch(at,    depth, c) {
    for (; at <= length(code); at++) {
        c = substr(code, at, 1)
        if (index("([{", c))
            depth++
        else if (index(")]}", c) && --depth < 0)
            return 0
        else if (c == ";" && depth == 0)
            return 0
        else if (depth == 0 && substr(code, at, 3) == ">>>")
            return at
    }
    return 0
}

# Returns where the kernel begins that ends before `at`: name, name<arguments>, with a namespace or an object before it,
# (any), any[any].
function kernel_before(at,    first) {
    for (;;) {
        first = primary_before(at)
        at = before_blanks(first)
        if (substr(code, at - 1, 2) == "::" || substr(code, at - 1, 2) == "->")
            at = at - 1
        else if (substr(code, at, 1) != ".")
            return first
        if (!(substr(code, before_blanks(at), 1) ~ /[A-Za-z0-9_>)\]]/))
            return at # ::kernel
    }
}

function primary_before(at,    last, c) {
    last = before_blanks(at)
    c = substr(code, last, 1)
    if (c == ">" || c == "]") {
        last = opening_of(last)
        return last ? primary_before(last) : at
    }
    if (c == ")") {
        at = opening_of(last)
        return substr(code, at - 1, 1) ~ /[A-Za-z0-9_>\]]/ && !after_keyword(at) ? primary_before(at) : at
    }
    while (last > 0 && substr(code, last, 1) ~ /[A-Za-z0-9_]/) {
        at = last
        last--
    }
    return at
}

function after_keyword(at) {
    return substr(code, at > 9 ? at - 9 : 1, at > 9 ? 9 : at - 1) ~ /(^|[^A-Za-z0-9_])(if|for|while|switch|return)$/
}

# Returns the last place before `at` that is not blank.
function before_blanks(at) {
    for (at--; at > 0 && substr(code, at, 1) ~ /[ \t\n\\]/;)
        at--
    return at
}

# Returns where the bracket opens that closes there; 0 if none does.
function opening_of(at,    c, close_at, depth) {
    close_at = substr(code, at, 1)
    for (depth = 1; depth && --at > 0;) {
        c = substr(code, at, 1)
        if (c == close_at)
            depth++
        else if (c == substr("([{<", index(")]}>", close_at), 1))
            depth--
        else if (index(")]}", c))
            at = opening_of(at)
        else if (close_at == ">" && index(";({", c))
            return 0
    }
    return at > 0 ? at : 0
}

# ---- shared memory ---------------------------------------------------------------------------------------------------

# extern ... __shared__ ... name[];
function shared_array(at,    declaration) {
    declaration = substr(code, at, index(substr(code, at), ";"))
    if (declaration !~ /^extern[^={}]*__shared__[^={}]*\[[ \t\n]*\][ \t\n]*;$/) {
        copy_to(at + 5)
        return
    }
    copy_to(at - 1)
    done += length(declaration)
    sub(/^extern/, "", declaration)
    sub(/__shared__/, "", declaration)
    match(declaration, /[A-Za-z_][A-Za-z0-9_]*[ \t\n]*\[[ \t\n]*\][ \t\n]*;$/)
    made = made "__attribute__((unused))" substr(declaration, 1, RSTART - 1) "*const " substr(declaration, RSTART)
    sub(/\[[ \t\n]*\][ \t\n]*;$/, " = simt_dynamic_shared_as();", made)
}
