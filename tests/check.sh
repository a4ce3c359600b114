# check.sh - functions by which scripts try commands and count results. A script sets name=..., then . tests/check.sh
#
# Run from the top folder, which $top names from then on. The work is done in build/$name, emptied first. CC, CXX and
# NVCC name the compilers. With SHORT_TESTS in the environment only a sample of long checks runs.

CC=${CC:-gcc} CXX=${CXX:-g++}
top=$PWD
work=$top/build/$name
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
passed=0 failed=0 skipped=0

# check WHAT COMMAND...
check() {
    what=$1
    shift
    if "$@" >out 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $what"
        echo "$@"
        sed -n 1,12p out
    fi
}

# compile FILE COMMAND...: compiles to FILE.o, and lists in FILE.has the names it defines and its bytes of code and data
compile() {
    file=$1
    shift
    rm -f $file.has
    "$@" -c -o $file.o $file && nm --defined-only $file.o | cut -c 18- >$file.has &&
        size -A $file.o | awk '/^\.(text|data|rodata|bss|noinit|nv_fatbin)/ { print $1, $2 }' >>$file.has
}

# kit_headers: the headers that a program includes, one a line
kit_headers() {
    (cd "$top" && ls *.h trid/*.h pde/*.h)
}

# copy_kit FOLDER: copies every header with its folder
copy_kit() {
    for file in $(cd "$top" && ls *.h */*.h */*/*.h | grep -vE '^(tests|bench|examples|build)/'); do
        mkdir -p "$1/$(dirname $file)" && cp "$top/$file" "$1/$file"
    done
}

skip() { # skip WHY
    skipped=$((skipped + 1))
    echo "skipped: $1"
}

report() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
}
