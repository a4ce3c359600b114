#!/bin/sh
# costs.sh - what is not called costs nothing: a program that includes a header and uses nothing of it is the empty
# program, without optimisation and with it; one that calls a launch function has the kernels of that one alone.
#
# Run from the top folder. CC, CXX and NVCC name the compilers. Nothing here looks at a clock.

name=costs
. tests/check.sh

# compile FILE COMMAND...: to FILE.o, with what it defines in FILE.has: names, and bytes of code and of data.
compile() {
    file=$1
    shift
    rm -f $file.has
    "$@" -I"$top" -c -o $file.o $file && nm --defined-only $file.o | cut -c 18- >$file.has &&
        size -A $file.o | awk '/^\.(text|data|rodata|bss|noinit|nv_fatbin)/ { print $1, $2 }' >>$file.has
}

# costs_nothing WHAT SUFFIX HEADERS COMMAND...: a program with each of the HEADERS against the empty program; they stand
# alone, or several with commas between
costs_nothing() {
    language=$1 suffix=$2 programs=$3
    shift 3
    echo 'int main(void) { return 0; }' >program.$suffix
    check "$language: the empty program" compile program.$suffix "$@"
    cp program.$suffix.has empty.has
    for header in $programs; do
        echo "$header" | tr , '\n' | sed 's/.*/#include "&"/' >program.$suffix
        echo 'int main(void) { return 0; }' >>program.$suffix
        check "$language: compile $header" compile program.$suffix "$@"
        check "$language: a program that uses nothing of $header is the empty one" diff empty.has program.$suffix.has
    done
}

emulated="$CXX -std=c++17 -x c++ -include $top/tests/simt/simt.h"
each=$(cd "$top" && ls *.h)
# What adi2d.h makes of models; optimised, or much is left of the host's loops.
models=$(cd "$top" && ls examples/*_model.h)
together=$each last='$p' # of the launches that a header declares the first is tried, and the last
if [ -n "$SHORT_TESTS" ]; then
    together=$(echo $each | tr ' ' ,) last=
    skip 'as CUDA each header alone, launches in double precision, those of trid_batch.h by nvcc: SHORT_TESTS is set'
fi
costs_nothing 'C' c "$each" $CC -std=c11 -O0
costs_nothing 'C++, optimised' cc "$each $models" $CXX -std=c++17 -O2
costs_nothing 'emulated' cu "$together" $emulated -O0
[ -n "$NVCC" ] && costs_nothing 'nvcc' cu "$together" "$NVCC" -std=c++17 -gencode arch=compute_90,code=compute_90

# Who calls one batch solver of cpu_avx.h has no other.
for level in -O0 -O1; do
    check "C: examples/cpu_batch.c with $level" $CC -std=c11 $level -Wall -Wextra -Wpedantic -Werror -I"$top" -c \
        -o batch.o "$top/examples/cpu_batch.c"
done
check 'C: it has the Thomas algorithm' sh -c 'nm batch.o | grep -q cpu_avx_p_rows_tiles'
check 'C: it has nothing of the hybrid' sh -c '! nm batch.o | grep -E "hybrid|sections_|across"'

# The launch functions that a header declares in full, so that they can be found.
launches() {
    sed -n 's/^static int \(bs[13]d_[a-z]*[0-9]_f[0-9]*\)(.*/\1/p
        s/^static int \(trid_batch_[a-z]*_f[0-9]*\)(.*/\1/p' "$top/$1"
}

# only_that FUNCTION: of all launch functions the object has that one, and the one that it hands over to.
only_that() {
    nm -C launch.o | grep -oE '(bs[13]d_[a-z]*[0-9]|trid_batch_[a-z]*)_f[0-9]*<' | sort -u >has
    case $1 in bs3d_implicit3_*) echo "bs3d_implicit2_${1##*_}<" ;; esac >wanted
    echo "$1<" >>wanted
    diff wanted has
}

# only_its_kernels FUNCTION: of those that bear a rung's name or a precision, as the kernels of explicit rungs do; of
# trid_batch.h none of another type, none that pivots and none for one matrix, which trid_batch_solve has no use for.
only_its_kernels() {
    rung=${1#*_}
    c++filt <entries >kernels
    if [ $1 = trid_batch_solve_f32 ]; then
        [ -s kernels ] && ! grep -E 'double|pivoted|common' kernels && grep -q '<float' kernels
        return
    fi
    [ -s kernels ] && ! grep -E '_f(32|64)' kernels | grep -v "_${rung##*_}" &&
        grep -q "${rung%_*}" kernels && ! grep -E '(explicit|implicit)[0-9]' kernels | grep -v "${rung%_*}"
}

for header in bs1d.h bs3d.h trid_batch.h; do
    launches $header >list
    least=6
    [ $header = trid_batch.h ] && least=4
    check "$header: launches in both precisions stand in the header" \
        sh -c "[ \$(grep -c _f32 list) -ge $least ] && [ \$(grep -c _f32 list) -eq \$(grep -c _f64 list) ]"
    for launch in $(sed -n "1p;$last" list); do
        printf '#include "%s"\nint main() { return (void *)%s<> == 0; }\n' $header $launch >launch.cu
        check "emulated: compile $launch" $emulated -O0 -I"$top" -c -o launch.o launch.cu
        check "emulated: a program that calls $launch has that launch alone" only_that $launch
    done
    if [ -n "$NVCC" ] && { [ -z "$SHORT_TESTS" ] || [ $header != trid_batch.h ]; }; then
        launch=$(sed -n 1p list)
        printf '#include "%s"\nint main() { return (void *)%s<> == 0; }\n' $header $launch >launch.cu
        check "nvcc: compile $launch" $NVCC -std=c++17 -arch=compute_90 -ptx -I"$top" -o launch.ptx launch.cu
        sed -n 's/.*\.entry \([A-Za-z0-9_]*\).*/\1/p' launch.ptx >entries
        check "nvcc: a program that calls $launch has its kernels alone" only_its_kernels $launch
    fi
done
# Models that nobody marches make no kernels.
if [ -n "$NVCC" ]; then
    echo "$models" | sed 's/.*/#include "&"/' >models.cu
    check 'nvcc: compile models' $NVCC -std=c++17 -arch=compute_90 -ptx -I"$top" -o models.ptx models.cu
    check 'nvcc: a program that uses nothing of its models has no kernels' sh -c '! grep "\.entry" models.ptx'
fi
[ -z "$NVCC" ] && skip 'costs by nvcc: no CUDA Toolkit here'
report
