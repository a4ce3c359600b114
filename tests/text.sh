#!/bin/sh
# text.sh - checks that need only the text of the sources:
#   the code in README.md, the guides, docs/pde.md, docs/adi2d.md and docs/adi3d.md (blocks marked c, cuda, python or
#   fortran; tests/shown.sh runs those marked sh) and in the opening comments of the headers is that of an example;
#   no trailing blanks, no tabs and no lines of more than 120 columns in C, no notes of unfinished work, no label of a
#   contract within a line, no payoff that makes a number of NaN;
#   every header has its version, and names each of its functions in its opening comment;
#   the tables in the documents are those of the results files, and that of trid/batch.h's kernels what its launches say;
#   the pictures are what bench/pictures.sh draws, and every link leads somewhere;
#   every function has its contract above it, or follows one that shares it without a blank line; a search for its name
#   finds one definition; no header is longer than 1200 lines (trid.h: 1600).
#
# Run from the top folder.

work=build/text
rm -rf $work && mkdir -p $work/trid
kit=$(ls *.h trid/*.h trid/*/*.h pde/*.h pde/*/*.h bs1d/*.h bs3d/*.h cpu_avx/*.h 2>/dev/null)
passed=0 failed=0

check() { # check STATUS WHAT
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $2"
    fi
}

# nothing_in FILE WHAT: FILE, a list of errors, must be empty
nothing_in() {
    [ ! -s "$1" ]
    check $? "$2"
    sed 's/^/    /' "$1"
}

# ---- code that is shown is code that is compiled ---------------------------------------------------------------------

bare() { # without white space around the lines, and without empty lines
    sed 's/^[[:space:]]*//; s/[[:space:]]*$//; /^$/d' "$@"
}

# All examples, with a line between two of them that no page shows.
awk 'FNR == 1 { print "\001" } { print }' examples/*.c examples/*.cu examples/*/*.c examples/*/*.cu examples/*.h \
    examples/*/*.py examples/*/*.f90 | bare >$work/examples.bare

for page in README.md docs/guide.md docs/python.md docs/pde.md docs/adi2d.md docs/adi3d.md; do
    awk -v out=$work/${page##*/} 'inside && /^ *```/ { inside = 0; close(file); next }
        inside { print >file }
        /^ *```(c|cuda|python|fortran) *$/ { inside = 1; file = out "." ++blocks ".shown" }' $page
    check $? "there is no $page"
done

# In a header's opening comment, code is the lines indented by 7 under a line that ends in "(examples/...):".
for header in *.h pde/*.h trid/batch.h; do
    awk -v out=$work/$(echo $header | tr / _) '
        inside && !/^ *$/ && !/^       / { inside = 0; close(file) }
        inside { print >file }
        /\(examples\/[^)]*\):$/ { inside = 1; file = out "." ++blocks ".shown" }
        /\*\// { exit }' $header
done

for shown in $work/*.shown; do
    [ -f "$shown" ] && bare "$shown" >"$shown.bare"
done
# Each file is one record.
awk 'BEGIN { RS = "\002" }
    FNR == NR { examples = $0; next }
    { print index(examples, "\n" $0) == 0, FILENAME }' $work/examples.bare $work/*.shown.bare >$work/shown
while read -r missing file; do
    what=${file#"$work"/}
    check "$missing" "code in ${what%.*.shown.bare} is in no example: $file"
done <$work/shown

# The command that copies an example must copy all that the example includes.
for example in $(grep -lE '^ +cp .* somewhere' examples/*.c examples/*.cu); do
    copied=$(sed -n 's/^ *cp \(.*\) somewhere.*/\1/p' $example)
    for header in $(sed -n 's/^#include "\(.*\)"/\1/p' $example); do
        case " $copied " in
        *[\ /]$header\ *) true ;;
        *) false ;;
        esac
        check $? "$example: its command does not copy $header"
    done
done

# ---- every file ------------------------------------------------------------------------------------------------------

# The files that git tracks; all files, if it tracks none or there is no repository.
tracked=$(git ls-files 2>/dev/null)
{ [ -n "$tracked" ] && echo "$tracked" || find . \( -name .git -o -name build \) -prune -o -type f -print; } |
    grep -E '\.(c|cc|h|cu|f90|md|sh|awk|txt|py|cff)$|(^|/)(Makefile|CMakeLists\.txt)$|\.ci/run$' | sort >$work/files

unfinished='TO''DO|FIX''ME|XX''X'
grep -E '\.(c|h|cu)$' $work/files >$work/in_c
in_files() { # in_files LIST PATTERN: lines of the files that are listed, with their names
    xargs grep -nE "$2" /dev/null <"$1"
}
in_files $work/files '[[:blank:]]$' >$work/blanks
in_files $work/files "(^|[^A-Za-z0-9_])($unfinished)([^A-Za-z0-9_]|\$)" >$work/unfinished
in_files $work/in_c "$(printf '\t')" >$work/tabs
in_files $work/in_c '^.{121}' >$work/long
nothing_in $work/blanks 'blanks at the ends of lines'
nothing_in $work/tabs 'tabs in C'
nothing_in $work/long 'lines of more than 120 columns in C'
nothing_in $work/unfinished 'notes of unfinished work'
# A payoff whose strike is NaN must be NaN.
grep -E '^(docs/|bench/|examples/)?[a-z0-9_]*\.(c|h|cu|md)$' $work/files >$work/of_users
in_files $work/of_users 'return (.+) > ([^ ]+) \? \1( - \2)? : 0;|return fmaxf?\(.*, 0(\.0)?\);' >$work/payoffs
nothing_in $work/payoffs 'payoffs that make a number of NaN'

# A contract's labels must begin their lines, so that a reader finds them.
grep -nE '[^ *] (Solves|Needs|Lanes|Leaves|Returns|Shared|Cost|Error|Sizes|Status|Memory)  +[^ ]' $kit >$work/labels
nothing_in $work/labels 'labels of contracts within a line'

# ---- every header ----------------------------------------------------------------------------------------------------

release=$(sed -n 's/^#define TRID_VERSION \([0-9]*\) .*/\1/p' trid.h)
grep -q "^version: \"$((release / 100)).$((release % 100))\"" CITATION.cff
check $? "CITATION.cff names another release than trid.h"

# A header or its rooms define functions; the header's opening comment lists them.
for header in *.h trid/*.h pde/*.h; do
    stem=$(basename $header .h) rooms=
    case $header in
    trid/batch.h) stem=trid_batch ;;
    trid/*) stem=trid ;;
    esac
    [ $header = trid.h ] || rooms=$(ls ${header%.h}/*.h 2>/dev/null)
    capitals=$(echo "$stem" | tr '[:lower:]' '[:upper:]')
    if [ $stem != trid ] || [ $header = trid.h ]; then
        grep -q "^#define ${capitals}_VERSION $release /" $header
        check $? "$header: ${capitals}_VERSION is not $release, as TRID_VERSION is"
    fi

    # The definitions of public functions: NAME, whether a comment or a neighbour with one stands directly above, and
    # whether it is a word of the opening comment, where "stem_load, _store" names stem_store too. What is overloaded
    # for C++ has its contract at the function that it calls.
    awk -v stem=$stem -v capitals=$capitals '
        !opened {
            words = $0
            gsub(/[^a-z0-9_]+/, " ", words)
            count = split(words, word, " ")
            for (i = 1; i <= count; i++) said[word[i]] = 1
            opened = /\*\//
        }
        /^#ifdef __cplusplus/ { overloads = 1 }
        /^#endif/ { overloads = 0 }
        !overloads && $0 ~ "^(" capitals "|TRID|TB)_(HD|D|HOST|API) " {
            name = ""
            if (match($0, capitals "_F\\(" stem "_[a-z0-9_]*\\)\\(")) {
                name = substr($0, RSTART + length(capitals) + 3, RLENGTH - length(capitals) - 5)
            } else if (match($0, "[ *]" stem "_[a-z0-9_]*\\(")) {
                name = substr($0, RSTART + 1, RLENGTH - 2)
                sub(/_f(32|64)$/, "", name)
            }
            shared = above ~ /^}/ && documented
            documented = above ~ /\*\/$/ || shared
            listed = name in said || substr(name, length(stem) + 1) in said
            if (name != "" && name !~ "^" stem "_p_") print name, documented + 0, listed
        }
        { above = $0 }' $header $rooms | sort -u >$work/$stem.functions

    while read -r name documented listed; do
        [ "$documented" = 1 ]
        check $? "$header: no contract above $name"
        [ "$listed" = 1 ]
        check $? "$header: $name is not in the list of functions"
    done <$work/$stem.functions
done

# ---- lines that two headers share, since they include nothing, are the same ------------------------------------------

same_lines() { # same_lines FROM TO FILE FILE
    sed -n "\\|$1|,\\|$2|p" "$3" >$work/one
    sed -n "\\|$1|,\\|$2|p" "$4" >$work/other
    [ -s $work/one ] && cmp -s $work/one $work/other
    check $? "$3 and $4 differ from $1 to $2"
}
same_lines '^#ifndef TB_QUALIFIERS' '^#endif /. TB_QUALIFIERS' trid.h transpose.h
same_lines '^inline namespace tb_f32' '^#undef tb_real' trid.h trid/twice.h
same_lines '^inline namespace tb_f64' '^#define TB_SUFFIX$' trid.h trid/twice.h

# ---- a search for a name finds its function --------------------------------------------------------------------------

# A search for a function's name finds its one definition, in the whole kit. A definition begins its line and is no
# declaration; the name is the first with a stem of the kit.
grep -hE '^[A-Za-z].*\(' $kit >$work/definitions
cat $kit | awk '/^[A-Za-z]/ && !/;$/ && match($0, /[ *](trid|transpose|bs1d|bs3d|fd|adi2d|adi3d|cpu_avx)_[a-z0-9_]*\(/) {
        print substr($0, RSTART + 1, RLENGTH - 2)
    }' | sort -u >$work/defined
[ "$(wc -l <$work/defined)" -gt 1000 ]
check $? "functions of the kit: $(wc -l <$work/defined)"
while read -r name; do
    [ "$(grep -cE "\b$name\(" $work/definitions)" -eq 1 ]
    check $? "a search for $name does not find one definition: $(grep -cE "\b$name\(" $work/definitions)"
done <$work/defined

# docs/where.md: each name before a file's name must be defined in that file, at the beginning of a line.
awk '/^\|/ {
        gsub(/[,;|()]/, " ")
        names = 0
        for (i = 1; i <= NF; i++)
            if ($i ~ /^`.*`$/) name[++names] = substr($i, 2, length($i) - 2)
            else if ($i ~ /^[a-z0-9_\/]+\.h:?$/) { sub(/:$/, "", $i); for (; names; names--) print name[names], $i }
    }' docs/where.md >$work/where
[ "$(wc -l <$work/where)" -gt 80 ]
check $? "docs/where.md: only $(wc -l <$work/where) names"
while read -r name file; do
    grep -qE "^[A-Za-z#}].*\b$name\b" "$file"
    check $? "docs/where.md: $name is not in $file"
done <$work/where

# ---- Python passes what the header takes -----------------------------------------------------------------------------

sed -n '/^typedef struct {/,/^} trid_batch_options;/p' trid/batch.h | awk '/^typedef/ { names = "" }
    /;$/ && !/^}/ { gsub(/[*;]/, ""); names = names " " $NF } END { print names }' >$work/in_c
sed -n '/^class Options/,/\]$/p' examples/python/torch_tridiagonal.py | grep -o '("[a-z_]*"' | tr -d '("' |
    awk '{ names = names " " $0 } END { print names }' >$work/in_python
[ -s $work/in_c ] && cmp -s $work/in_c $work/in_python
check $? "torch_tridiagonal.py: Options is not trid_batch_options:$(cat $work/in_c)"

# ---- no file is longer than one can read ------------------------------------------------------------------------------

for header in $kit; do
    most=1200
    [ $header = trid.h ] && most=1600
    [ "$(wc -l <$header)" -le $most ]
    check $? "$header has more than $most lines: $(wc -l <$header)"
done

# ---- tables are what the results files say ---------------------------------------------------------------------------

for page in README.md docs/*.md; do
    sh bench/fill.sh $page >$work/page.md && cmp -s $page $work/page.md
    check $? "$page: its tables are not what bench/fill.sh makes of the results"
done

# ---- pictures are what is drawn ---------------------------------------------------------------------------------------

mkdir $work/pictures
(
    ulimit -f 524288 2>/dev/null # as below
    ulimit -t 120
    sh bench/pictures.sh $work/pictures >$work/pictures.log 2>&1
)
check $? "bench/pictures.sh failed: $(head -n 3 $work/pictures.log)"
for picture in $(ls docs/*.svg $work/pictures/*.svg | sed 's|.*/||' | sort -u); do
    cmp -s docs/$picture $work/pictures/$picture
    check $? "docs/$picture is not what bench/pictures.sh draws"
    grep -qs "](\(docs/\)*$picture)" README.md docs/*.md
    check $? "docs/$picture is on no page"
done

# ---- links lead somewhere --------------------------------------------------------------------------------------------

# slugs PAGE: the names by which its headings can be linked to
slugs() {
    sed -n '/^```/,/^```/d; s/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}
: >$work/links
for page in *.md docs/*.md; do
    # A link is [words](target), not within a block of code.
    sed '/^ *```/,/^ *```/d' $page | grep -o '\](\([^)]*\))' | sed 's/^](//; s/)$//' | sort -u | while read -r link; do
        case $link in
        http://* | https://* | mailto:*) continue ;;
        esac
        target=${link%%#*}
        [ -n "$target" ] && target=$(dirname $page)/$target || target=$page
        if [ ! -e "$target" ]; then
            echo "$page: $link: no such file"
        elif [ "${link#*#}" != "$link" ] && ! slugs "$target" | grep -qx -- "${link#*#}"; then
            echo "$page: $link: no such heading"
        fi
    done >>$work/links
done
nothing_in $work/links 'links that lead nowhere'

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
