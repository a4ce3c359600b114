#!/bin/sh
# faults.sh - checks that tests fail where code is wrong. It plants the faults of tests/faults.txt, one at a time, in a
# copy of the tree, runs the parts that test the code until one fails, and says which part of which run killed the
# fault.
#
#     sh tests/faults.sh [-l] [-n] [-j N] [-t SECONDS] [-C TREE] [-o OUTFILE] [NAME ...]
#
#     -l          also tries faults that "make test" leaves alive with "make test-long", whose parts do more
#     -n          only checks that every fault can still be planted; builds and runs nothing
#     -j N        N faults at a time, each in a copy of its own
#     -t SECONDS  a part that takes longer (than 1800, if not given) counts as hanging, and has killed the fault
#     -C TREE     plants the faults of this tree's table in the files of another tree
#     -o OUTFILE  also writes the table to OUTFILE
#     NAME ...    only these faults; NAME may be a pattern
#
# A fault is a line of the table: name, file, parts, edit. The parts are patterns with commas between them, cheapest
# first; the Makefile's PARTS and LONG_PARTS say to which run a part belongs. The edit is a command for sed that finds
# its line by its text, and changes or deletes one line. It is an error if it changes none or several, if the fault does
# not compile, or if the part that killed it fails without the fault as well. The last line has the sums: faults killed,
# all others, and faults whose parts cannot run here. build/faults/NAME.result has the first message of the part that
# failed.
#
# Run from the top folder. CC and CXX in the environment name the compilers.

tree=$PWD table=$PWD/tests/faults.txt
jobs=1 seconds=1800 long='' dry='' outfile=/dev/null
while getopts lnj:t:C:o: option; do
    case $option in
    l) long=yes ;;
    n) dry=yes ;;
    j) jobs=$OPTARG ;;
    t) seconds=$OPTARG ;;
    C) tree=$(cd "$OPTARG" && pwd) || exit 2 ;;
    o) outfile=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
wanted=$* work=$PWD/build/faults${dry:+-planted}
unset MAKEFLAGS MAKELEVEL

# parts_of VARIABLE: the parts in this variable of the tree's Makefile, one a line
parts_of() {
    make -s -C "$tree" --no-print-directory --eval="list-of-parts: ; @echo \$($1)" list-of-parts | tr ' ' '\n'
}

# matches WORD PATTERN...
matches() {
    word=$1
    shift
    for pattern in "$@"; do
        case $word in $pattern) return 0 ;; esac
    done
    return 1
}

# owners PATTERNS FILE: the parts in FILE that match, in the order of the patterns, each once
owners() {
    echo "$1" | tr , '\n' | while read -r pattern; do
        while read -r part; do
            if matches "$part" "$pattern"; then echo "$part"; fi
        done <"$2"
    done | awk '!seen[$0]++'
}

# copy_tree TO: copies everything except build products
copy_tree() {
    rm -rf "$1" && mkdir -p "$1" || return
    for entry in "$tree"/*; do
        [ "$entry" = "$tree/build" ] || cp -R "$entry" "$1" || return
    done
}

# plant COPY FILE EDIT: says what is wrong with the edit, if something is
plant() {
    sed "$3" "$tree/$2" >"$1/planted" || return
    changed=$(diff "$tree/$2" "$1/planted" | grep -c '^<')
    added=$(diff "$tree/$2" "$1/planted" | grep -c '^>')
    if [ "$changed" -ne 1 ] || [ "$added" -gt 1 ]; then
        echo "changes $changed lines"
        return 1
    fi
    mv "$1/planted" "$1/$2"
}

# run_part COPY PART: killed, alive, skipped, hangs or unbuilt. A part that began has a log, one that ended a count.
run_part() {
    rm -rf "$1/build/log"
    (cd "$1" && timeout -k 10 "$seconds" make -j1 "$2") >"$1/out.$2" 2>&1
    if [ ! -f "$1/build/log/$2.log" ]; then
        echo unbuilt
    elif [ ! -f "$1/build/log/$2.count" ]; then
        echo hangs
    else
        awk '{ print $3 ? "killed" : $1 ? "alive" : "skipped" }' "$1/build/log/$2.count"
    fi
}

# first_failure COPY PART: the first message of a part that failed, or of the compiler
first_failure() {
    said=$1/build/log/$2.log
    [ -f "$said" ] || said=$1/out.$2
    grep -iE 'failed: |error: |sanitizer|simt: |exit status' "$said" | head -n 1 | cut -c 1-160
}

# try_parts COPY RUN PARTS...: runs parts until one kills the fault or does not compile; sets result
try_parts() {
    copy=$1 run=$2
    shift 2
    for part in "$@"; do
        case $(run_part "$copy" "$part") in
        alive) result=alive ;;
        killed) result="killed $part $run $(first_failure "$copy" "$part")" ;;
        hangs) result="killed $part $run hangs" ;;
        unbuilt) result="error $part $run does not compile: $(first_failure "$copy" "$part")" ;;
        *) ;;
        esac
        case $result in killed* | error*) return ;; esac
    done
}

# try_fault NAME REST-OF-LINE: tries a fault and writes to $work/NAME.result: the name; the file; killed, alive,
# skipped, applies or error; then the part, the run and the reason
try_fault() {
    name=$1 copy=$work/$1 result=skipped
    read -r file parts edit <<END
$2
END
    if [ -n "$dry" ]; then
        mkdir -p "$copy/$(dirname "$file")"
        result=applies
    else
        copy_tree "$copy"
    fi
    if ! wrong=$(plant "$copy" "$file" "$edit" 2>&1); then
        result="error - - $wrong"
    elif [ -z "$dry" ]; then
        short_parts=$(owners "$parts" "$work/short")
        long_parts=$(owners "$parts" "$work/long")
        [ -n "$short_parts$long_parts" ] || result="error - - is owned by $parts, which the Makefile has not"
        export SHORT_TESTS=1
        try_parts "$copy" test $short_parts
        unset SHORT_TESTS
        case $long-$result in yes-alive | yes-skipped) try_parts "$copy" test-long $short_parts $long_parts ;; esac
    fi
    echo "$name $file $result" >"$work/$name.result"
    rm -rf "$copy"
}

# try_killer PART RUN: a part that has killed a fault must pass without one; otherwise its name goes to $work/unsound
try_killer() {
    copy=$work/sound.$1.$2
    copy_tree "$copy"
    if [ "$2" = test ]; then export SHORT_TESTS=1; else unset SHORT_TESTS; fi
    [ "$(run_part "$copy" "$1")" = alive ] || echo "$1 $2" >>"$work/unsound"
    rm -rf "$copy"
}

# work_off COMMAND FILE: one worker, which gives COMMAND the lines of FILE that no other has taken: first word, rest
work_off() {
    line=0
    while read -r first rest; do
        line=$((line + 1))
        mkdir "$2.$line" 2>/dev/null && "$1" "$first" "$rest" </dev/null
    done <"$2"
}

# in_parallel COMMAND FILE
in_parallel() {
    pids=
    worker=0
    while [ "$worker" -lt "$jobs" ]; do
        work_off "$1" "$2" &
        pids="$pids $!"
        worker=$((worker + 1))
    done
    wait
}

# report: prints the table in the order of faults.txt, then the sums
report() {
    while read -r name _; do
        cat "$work/$name.result"
    done <"$work/faults" | awk -v unsound="$work/unsound" -v dry="$dry" '
        function row(fault, header, killer, run, text) {
            text = sprintf("%-28s %-13s %-28s %s", fault, header, killer, run)
            sub(/ +$/, "", text)
            print text
        }
        BEGIN {
            while ((getline line <unsound) > 0) bad[line] = 1
            if (!dry) row("fault", "header", "killed by", "run")
        }
        $3 == "applies" { passed++; next }
        $3 == "killed" && ($4 " " $5) in bad { failed++; row($1, $2, "ERROR", $4 " fails without it too"); next }
        $3 == "killed" { passed++; row($1, $2, $4, $5); next }
        $3 == "alive" { failed++; row($1, $2, "SURVIVED"); next }
        $3 == "skipped" { skipped++; row($1, $2, "skipped: no part runs here"); next }
        {
            why = $4 == "-" ? "it" : $4
            for (i = 6; i <= NF; i++) why = why " " $i
            failed++
            row($1, $2, "ERROR", why)
        }
        END { print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"; exit failed > 0 }'
}

rm -rf "$work" && mkdir -p "$work" || exit 2
trap 'kill $pids 2>/dev/null; exit 1' INT TERM
grep -v -e '^#' -e '^ *$' "$table" | while read -r name rest; do
    if [ -z "$wanted" ] || matches "$name" $wanted; then echo "$name $rest"; fi
done >"$work/faults"
[ -s "$work/faults" ] || { echo "no fault is called $wanted" >&2; exit 2; }
parts_of PARTS >"$work/short"
parts_of LONG_PARTS >"$work/long"
in_parallel try_fault "$work/faults"
cat "$work"/*.result | awk '$3 == "killed" { print $4, $5 }' | sort -u >"$work/killers"
: >"$work/unsound"
in_parallel try_killer "$work/killers"
report >"$work/table"
status=$?
cat "$work/table"
[ "$outfile" = /dev/null ] || cp "$work/table" "$outfile"
exit $status
