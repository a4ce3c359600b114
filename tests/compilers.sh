#!/bin/sh
# compilers.sh - checks that no compiler warns. Each one compiles each header alone as C11 and as C++17, and all
# programs in C; gcc also compiles all programs in CUDA for the emulator, and the code that nvcc leaves to the host's
# compiler.
#
#     tests/compilers.sh [COMPILER...]
#
# Run from the top folder. CC names the compiler of all other tests, which see its warnings, and NVCC names nvcc.
# Without arguments this script tries each version below that is in the PATH.

versions='gcc-11 gcc-12 gcc-13 gcc-14 gcc-15
clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20 clang-21 clang-22'
compilers=${*:-$versions}
name=compilers
. tests/check.sh

# gcc finds variables without a value only while it optimises, which takes ten times as long as all other warnings. So
# it optimises only these programs, which together call the functions of every header. clang need not optimise.
optimised='
tests/test_adi2d_orders.c tests/test_banks.c tests/test_bs1d_host.c tests/test_bs3d_host.c tests/test_fd_host.c
tests/test_pivoted_host.c tests/test_trid_host.c
examples/american_lsmc_host.c examples/cpu_own_kernel.c examples/drop_in_host.c examples/fd_call.c
bench/adi3d_orders.c bench/bs1d_accuracy.c bench/fd_orders.c bench/pivoted.c bench/residual.c'
# The code that nvcc leaves to the host's compiler is inlined differently from the emulator's: only there did gcc 13
# find a variable without a value.
host_half=bench/adi3d.cu

# The work is done two folders down. Variables that are expanded without quotes must not contain $top, which may have
# spaces.
warnings="-Wall -Wextra -Wpedantic -Werror -I../.."
emulated="-std=c++17 -Wall -Wextra -Werror -Winvalid-pch -I../../tests/simt/include -I../.. -x c++"
toolkit=${NVCC:+$(dirname "$(dirname "$(readlink -f "$NVCC")")")/include}
# These need headers of the toolkit.
of_toolkit='tests/test_nvrtc.c examples/from_c/solve.c'

c_programs() {
    (cd "$top" && ls tests/*.c examples/*.c examples/*/*.c bench/*.c) | if [ -n "$toolkit" ]; then cat; else
        grep -vxF "$(printf '%s\n' $of_toolkit)"; fi
}

# version COMPILER: the version that it reports, without the name by which it was called
version() {
    "$@" --version | sed '1s/^[^ ]* //'
}

# how_far PROGRAM: the option that says how far $compiler compiles it
how_far() {
    case $compiler in
    gcc*) for program in $optimised; do [ $program = $1 ] && echo -O2 -c -o program.o && return; done ;;
    esac
    echo -fsyntax-only
}

headers() {
    for header in $(kit_headers); do
        printf '#include "%s"\nint main(void) { return 0; }\n' "$header" | tee alone.c >alone.cc
        check "$compiler: $header" $compiler -std=c11 $warnings -fsyntax-only alone.c
        check "$cxx: $header" $cxx -std=c++17 $warnings -fsyntax-only alone.cc
    done
}

programs_in_c() {
    openmp=$(echo 'int main(void) { return 0; }' | $compiler -fopenmp -x c -o /dev/null - 2>/dev/null && echo -fopenmp)
    for program in $(c_programs); do
        check "$compiler: $program" $compiler -std=c11 $warnings ${toolkit:+-isystem "$toolkit"} $openmp \
            $(how_far $program) "$top/$program"
    done
}

# cuda_of PROGRAM: compiles it for the emulator
cuda_of() {
    LC_ALL=C awk -f "$top/tests/simt/launches.awk" "$1" >program.cc &&
        $cxx $emulated -include ./simt.h -iquote "$(dirname "$1")" -fsyntax-only program.cc
}

# The emulator's header is compiled once, to a file of its name and .gch, which gcc then reads instead.
programs_in_cuda() {
    echo "#include \"$top/tests/simt/simt.h\"" >simt.h
    check "$cxx: tests/simt/simt.h" $cxx $emulated-header -o simt.h.gch simt.h
    for program in "$top"/tests/test_*.cu "$top"/tests/simt/test_*.cu "$top"/examples/*.cu \
        "$top"/examples/python/gpu_library.cu "$top"/examples/from_c/library.cu; do
        check "$cxx: ${program##*/}" cuda_of "$program"
    done
}

half_of_nvcc() {
    check "nvcc and $cxx: $host_half" "$NVCC" -ccbin $cxx -std=c++17 -gencode arch=compute_90,code=compute_90 \
        -Xcicc -O0 -Xcompiler -O3,-march=native,-Wall,-Wextra -Werror all-warnings -I"$top" -c -o half.o \
        "$top/$host_half"
}

for compiler in $compilers; do
    cxx=$(echo $compiler | sed 's/gcc/g++/; s/clang/clang++/')
    if ! command -v $compiler >/dev/null || ! command -v $cxx >/dev/null; then
        skip "no $compiler here"
        continue
    fi
    [ $# -eq 0 ] && [ "$(version $compiler)" = "$(version $CC)" ] && continue
    headers
    programs_in_c
    case $compiler in
    gcc*) programs_in_cuda && [ -n "$NVCC" ] && half_of_nvcc ;;
    esac
done
report
