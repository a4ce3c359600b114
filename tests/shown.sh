#!/bin/sh
# shown.sh - checks that the commands shown by README.md and by the pages of docs named below (blocks marked sh) work.
#
# A page's blocks are run one after another, as a reader types them, in a copy of the kit without build products. A
# block that calls nvcc is run only where there is a GPU. If a block ends with status 3, something is missing, and the
# last line of its output says what. A block marked text after one marked sh has lines that it must print, in their
# order; ".." stands for other lines. Run from the top folder; CC, CXX, NVCC, GPU and PYTHON are the Makefile's.

work=$PWD/build/shown
rm -rf "$work" && mkdir -p "$work"
passed=0 failed=0 skipped=0
NVCC=${NVCC:-} GPU=${GPU:-} PYTHON=${PYTHON:-} SHORT_TESTS=${SHORT_TESTS:-}
unset MAKEFLAGS MFLAGS MAKELEVEL
[ -n "$NVCC" ] && PATH=${NVCC%/*}:$PATH

# prints BLOCK: checks that its log has the lines that the page shows, in their order
prints() {
    [ ! -f "$1.prints" ] || awk '
        FNR == NR { if ($0 != "..") line[++lines] = $0; next }
        $0 == line[found + 1] { found++ }
        END { if (found < lines) { print "not printed: " line[found + 1]; exit 1 } }' "$1.prints" "$1.log"
}

long='library\.cu|adi3d_basket|adi3d_heston|adi2d_heston|gfortran|run .*(bs3d_gpus|cut_lines)|run .*cusparse/'
for page in README.md docs/guide.md docs/pde.md docs/python.md; do
    name=$(basename $page .md)
    mkdir -p "$work/$name/kit"
    awk -v out="$work/$name/block" '
        inside && /^ *```/ { inside = 0; close(file); next }
        inside { print >file }
        /^ *```sh *$/ { inside = 1; file = sprintf("%s.%02d", out, ++blocks) }
        /^ *```text *$/ { inside = 1; file = sprintf("%s.%02d.prints", out, blocks) }' $page
    tar -cf - --exclude=./build --exclude=./.git --exclude='./.gpu-*' . | tar -xf - -C "$work/$name/kit"
    for block in "$work/$name"/block.??; do
        [ -f "$block" ] || continue
        what="$page: $(sed -n 1p "$block")"
        module=$(sed -n 's|.*examples/python/\([a-z]*\)_tridiagonal\.py.*|\1|p' "$block")
        lacks=
        if grep -q nvcc "$block" && [ -z "$GPU" ]; then
            lacks='no GPU here'
        elif grep -q gfortran "$block" && ! command -v gfortran >/dev/null; then
            lacks='no gfortran here'
        elif grep -qE "$long" "$block" && [ -n "$SHORT_TESTS" ]; then
            lacks='it takes long; make test-long runs it'
        elif [ -n "$module" ] && ! "${PYTHON:-false}" -c "import $module" 2>/dev/null; then
            lacks="no $module for Python here"
        fi
        if [ -n "$lacks" ]; then
            echo "skipped: $what: $lacks"
            skipped=$((skipped + 1))
            continue
        fi
        (cd "$work/$name/kit" && timeout 600 sh -e "$block" && prints "$block") >"$block.log" 2>&1 </dev/null
        case $? in
        0) passed=$((passed + 1)) ;;
        3)
            echo "skipped: $what: $(tail -n 1 "$block.log")"
            skipped=$((skipped + 1))
            ;;
        *)
            echo "failed: $what"
            tail -n 20 "$block.log" | sed 's/^/    /'
            failed=$((failed + 1))
            ;;
        esac
    done
done

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
