#!/bin/sh
# costs.sh - checks that functions that are not called cost nothing in CUDA, for the emulator and by nvcc. A program
# that includes a header and uses nothing of it must compile to the empty program; one that calls a launch function must
# have only that one's kernels. As headers.sh does for C and C++, it also tries macros, extern "C" and C++20.
#
# Run from the top folder, after "make build/cpu_batch". CC, CXX and NVCC name the compilers. No check depends on time.

name=costs
. tests/check.sh

. "$top/tests/macros.sh"
emulated="$CXX -std=c++17 -Wall -Wextra -Werror -x c++ -include $top/tests/simt/simt.h"
headers=$(kit_headers)
mkdir -p trid pde
models=$(cd "$top" && ls examples/*_model.h)
last='$p' # of the launches that a header declares the first is tried, and the last
if [ -n "$SHORT_TESTS" ]; then
    last=
    skip 'as CUDA each header alone, models, what nvcc makes of the host, launches in double precision, those of
    trid/batch.h and all by nvcc, other levels for cpu_batch: SHORT_TESTS is set'
fi

# All headers in one program, among macros with their own names, inside extern "C"; models too; each alone.
echo 'int main(void) { return 0; }' >empty.cu
among_macros() { # among_macros FILE...
    echo '#include "names.h"'
    echo 'extern "C" {'
    printf '#include "%s"\n' "$@"
    echo '}'
    echo '#include "names_still.h"'
    cat empty.cu
}
among_macros $headers >every.cu
among_macros $headers $models >with_models.cu
for header in $headers; do
    { echo "#include \"$header\"" && cat empty.cu; } >${header%.h}.cu
done

# cost_nothing WHAT PROGRAMS HOW COMMAND...: with the command, HOW must give the same for each of the programs as for
# the empty one
cost_nothing() {
    language=$1 programs=$2 how=$3
    shift 3
    check "$language: the empty program" $how empty.cu "$@"
    for each in $programs; do
        check "$language: compile $each" $how $each.cu "$@" -I"$top"
        check "$language: a program that uses nothing of it is the empty one: $each" diff empty.cu.has $each.cu.has
    done
}

# ptx FILE COMMAND...: writes what nvcc compiles for a GPU to FILE.has, without the comments
ptx() {
    file=$1
    shift
    rm -f $file.has
    "$@" -arch=compute_90 -ptx -o $file.ptx $file && sed '/^\/\//d' $file.ptx >$file.has
}

alone=${last:+$(echo "$headers" | sed 's/\.h$//')} # in the long run
cost_nothing 'emulated, C++20' every compile $emulated -std=c++20 -O0
if [ -n "$alone" ]; then
    cost_nothing 'emulated' "$alone" compile $emulated -O0
    check 'emulated: with models' $emulated -std=c++20 -I"$top" -fsyntax-only with_models.cu
fi
if [ -n "$NVCC" ]; then
    warnings='-Xcompiler -Wall,-Wextra -Werror all-warnings'
    cost_nothing 'nvcc, C++20' with_models ptx "$NVCC" -std=c++20 $warnings
    # Of cpu_avx.h nvcc compiles plain C only, and vector sets where a program asks for them.
    sets_in() { "$NVCC" -E -I"$top" "$@" cpu_avx.cu | grep -q thomas_tiles_avx2_f32; }
    check 'nvcc: cpu_avx.h with CPU_AVX_UNDER_NVCC' sets_in -DCPU_AVX_UNDER_NVCC
    if sets_in; then sets=1; else sets=0; fi
    check 'nvcc: cpu_avx.h without vector sets' [ $sets = 0 ]
    if [ -n "$alone" ]; then
        cost_nothing 'nvcc' "$alone" ptx "$NVCC" -std=c++17 $warnings
        cost_nothing 'nvcc, with the host' every compile "$NVCC" -std=c++17 -gencode arch=compute_90,code=compute_90
    fi
else
    skip 'costs by nvcc: no CUDA Toolkit here'
fi

# A program that calls one batch solver of cpu_avx.h must contain no other: the example as users compile it, and at
# other levels of optimisation.
cpu_batch=$top/build/cpu_batch
for level in '' ${last:+-O0 -O1}; do
    [ -n "$level" ] && cpu_batch=cpu_batch.o &&
        check "C: examples/cpu_batch.c with $level" $CC -std=c11 $level -Wall -Wextra -Wpedantic -Werror -I"$top" -c \
            -o $cpu_batch "$top/examples/cpu_batch.c"
    [ "$level" = -O0 ] && continue # which does not see that a choice is none
    check "C: it has the Thomas algorithm $level" sh -c "nm $cpu_batch | grep -q cpu_avx_p_contiguous_tiles"
    check "C: it has nothing of the hybrid $level" sh -c "! nm $cpu_batch | grep -E 'hybrid|partitions_'"
done

# The launch functions that a header declares with their whole names, so that this script can find them.
launches() {
    cat "$top/$1" $(ls "$top/${1%.h}"/*.h 2>/dev/null) |
        sed -n 's/^static int \(bs[13]d_[a-z]*[0-9]_f[0-9]*\)(.*/\1/p
            s/^#define \(bs[13]d_[a-z]*[0-9]_f[0-9]*\) tb_f[0-9]*::.*/\1/p
            s/^#define \(bs[13]d_[a-z]*[0-9]\) TB_OF(.*/\1_f32\n\1_f64/p
            s/^TRID_P_BATCH_[A-Z]*(\(trid_batch_[a-z]*\)[,)].*/\1_f32\n\1_f64/p' |
        awk '!listed[$0]++'
}

# suffixes: names in the namespace of a precision get its suffix, unless they have it.
suffixes() {
    sed -E 's/tb_(f32|f64)::([a-z0-9_]+)/\2_\1/g; s/_(f32|f64)_(f32|f64)/_\1/g'
}

# only_that FUNCTION: of all launch functions the object must have only that one and the one that it hands over to
only_that() {
    nm -C launch.o | suffixes | grep -oE '(bs[13]d_[a-z]*[0-9]|trid_batch_[a-z]*)_f[0-9]*<' | sort -u >has
    case $1 in bs3d_implicit3_*) echo "bs3d_implicit2_${1##*_}<" ;; esac >wanted
    echo "$1<" >>wanted
    diff wanted has
}

# only_its_kernels FUNCTION: of the kernels whose name has a rung or a precision, only this function's may be there;
# from trid/batch.h none of another type, none that pivots and none for one matrix, which trid_batch_solve does not need
only_its_kernels() {
    rung=${1#*_}
    c++filt <entries | suffixes >kernels
    if [ $1 = trid_batch_solve_f32 ]; then
        [ -s kernels ] && ! grep -E 'double|pivoted|one_matrix|(contiguous|interleaved)<float, (8|16|64|192|768),' kernels && grep -q '<float, 1,' kernels
        return
    fi
    [ -s kernels ] && ! grep -E '_f(32|64)' kernels | grep -v "_${rung##*_}" &&
        grep -q "${rung%_*}" kernels && ! grep -E '(explicit|implicit)[0-9]' kernels | grep -v "${rung%_*}"
}

for header in bs1d.h bs3d.h trid/batch.h; do
    launches $header >list
    least=6
    [ $header = trid/batch.h ] && least=4
    check "$header: launches in both precisions stand in the header" \
        sh -c "[ \$(grep -c _f32 list) -ge $least ] && [ \$(grep -c _f32 list) -eq \$(grep -c _f64 list) ]"
    [ -n "$SHORT_TESTS" ] && [ $header = trid/batch.h ] && continue
    for launch in $(sed -n "1p;$last" list); do
        printf '#include "%s"\nint main() { return (void *)%s<> == 0; }\n' $header $launch >launch.cu
        check "emulated: compile $launch" $emulated -Wno-address -O0 -I"$top" -c -o launch.o launch.cu
        check "emulated: a program that calls $launch has that launch alone" only_that $launch
    done
    if [ -n "$NVCC" ] && [ -z "$SHORT_TESTS" ]; then
        launch=$(sed -n 1p list)
        printf '#include "%s"\nint main() { return (void *)%s<> == 0; }\n' $header $launch >launch.cu
        check "nvcc: compile $launch" $NVCC -std=c++17 -arch=compute_90 -ptx -I"$top" -o launch.ptx launch.cu
        sed -n 's/.*\.entry \([A-Za-z0-9_]*\).*/\1/p' launch.ptx >entries
        check "nvcc: a program that calls $launch has its kernels alone" only_its_kernels $launch
    fi
done
report
