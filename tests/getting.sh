#!/bin/sh
# getting.sh - checks that programs compile and run with what get.sh makes, and with nothing else of the kit: with
# copied headers, with single files, and with installed headers, by pkg-config and by CMake.
#
# Run from the top folder; CC, CXX and NVCC are the Makefile's.

kit=$PWD
work=$kit/build/getting
rm -rf "$work" && mkdir -p "$work"
passed=0 failed=0 skipped=0
CC=${CC:-gcc} CXX=${CXX:-g++} NVCC=${NVCC:-} SHORT_TESTS=${SHORT_TESTS:-}
warnings='-Wall -Wextra -Wpedantic -Werror'
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

check() { # check WHAT COMMAND...
    what=$1
    shift
    if (cd "$work" && "$@") >"$work/log" 2>&1 </dev/null; then
        passed=$((passed + 1))
    else
        echo "failed: $what"
        tail -n 20 "$work/log" | sed 's/^/    /'
        failed=$((failed + 1))
    fi
}

skip() { # skip WHAT WHY
    echo "skipped: $1: $2"
    skipped=$((skipped + 1))
}

built() { # built FOLDER PROGRAM OPTIONS...: compiles FOLDER/PROGRAM.c and runs it
    cd "$1" || return
    program=$2
    shift 2
    $CC -std=c11 $warnings "$@" -o "$program" "$program.c" -lm && "./$program"
}

# The examples, with the names of single files in their includes.
for example in drop_in_host.c fd1d_host.c cev_model.h cpu_batch.c; do
    mkdir -p "$work/copied" "$work/one"
    cp "examples/$example" "$work/copied"
    sed 's|"pde/fd1d.h"|"pde_fd1d.h"|' "examples/$example" >"$work/one/$example"
done
cat >"$work/copied/batch.cu" <<'END'
#include "trid/batch.h"

#include <stdio.h>

int main()
{
    enum { n = 100, systems = 7, rows = n * systems };
    static float h[5 * rows];
    for (int i = 0; i < rows; i++) h[i] = h[2 * rows + i] = -1, h[rows + i] = 3, h[3 * rows + i] = 1;
    float *a = NULL;
    if (cudaMalloc((void **)&a, sizeof h) || cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice)) return 3;
    const trid_lines lines = trid_lines_contiguous(n, systems);
    int status = trid_batch_solve<n, n, TRID_BATCH_ONLY_CONTIGUOUS>(lines, a, a + rows, a + 2 * rows, a + 3 * rows,
                                                                    a + 4 * rows, NULL, 0);
    if (status || cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost)) return 1;
    const float middle = h[4 * rows + n / 2]; /* x is 1, far from the ends */
    printf("%.6f\n", middle);
    return !(middle > 0.99999f && middle < 1.00001f);
}
END
sed 's|"trid/batch.h"|"trid_batch.h"|' "$work/copied/batch.cu" >"$work/one/batch.cu"

# ---- copied, and as one file -----------------------------------------------------------------------------------------

check 'make copy' make -C "$kit" copy TO="$work/copied" HEADERS='trid.h pde/fd1d.h cpu_avx.h trid/batch.h'
check 'make copy: the licence' cmp "$kit/LICENSE" copied/LICENSE.triband
for header in trid.h cpu_avx.h pde/fd1d.h trid/batch.h; do
    check "make single: $header" make -C "$kit" single TO="$work/one" HEADER=$header
done
for folder in copied one; do
    check "drop_in_host, $folder" built $folder drop_in_host
    check "fd1d_host, $folder" built $folder fd1d_host
    # The emulator looks for headers two folders above it, where there must be none.
    mkdir -p "$work/$folder/emulator" && cp -r tests/simt "$work/$folder/emulator"
    check "batch.cu, $folder, through the emulator" "$work/$folder/emulator/simt/run" --plain "$folder/batch.cu"
    if [ -n "$NVCC" ]; then
        check "batch.cu, $folder, by nvcc" "$NVCC" -std=c++17 -Werror all-warnings -Xcicc -O0 -ptx -o batch.ptx \
            "$folder/batch.cu"
    else
        skip "batch.cu, $folder, by nvcc" 'no CUDA Toolkit here'
    fi
done

if [ -n "$SHORT_TESTS" ]; then
    skip 'cpu_batch, one file' 'SHORT_TESTS is set'
else
    check 'cpu_batch, one file' built one cpu_batch
fi

# A header copied alone must find everything that it needs, in C and with its kernels.
preprocessed() { # preprocessed FOLDER HEADER
    ! [ -e "$1/Makefile" ] && echo "#include \"$2\"" >"$1/alone.c" && $CC -E -o /dev/null "$1/alone.c" &&
        $CXX -std=c++17 -E -x c++ -include "$kit/tests/simt/simt.h" -o /dev/null "$1/alone.c"
}
for header in *.h trid/*.h pde/*.h; do
    name=$(echo $header | tr / _)
    check "copied alone: $header" sh "$kit/get.sh" copy "alone_$name" $header
    check "copied alone, preprocessed: $header" preprocessed "alone_$name" $header
done
for header in bs1d.h bs3d.h trid/lu.h pde/adi3d.h; do
    check "one file: $header" sh "$kit/get.sh" single singles $header
    check "one file, preprocessed: $header" preprocessed singles "$(echo $header | tr / _)"
done

refused() { # refused OPTIONS...
    ! sh "$kit/get.sh" "$@"
}
check 'a header that there is not' refused copy nowhere trid/nothing.h
check 'a header that there is not, as one file' refused single nowhere trid/nothing.h
check 'no header' refused copy nowhere
check 'no folder' refused copy '' trid.h
check 'an unknown command' refused take nowhere trid.h
check 'what was refused leaves nothing' [ ! -e nowhere/trid_nothing.h ]
mkdir -p "$work/blocked/share/pkgconfig/triband.pc"
check 'a file that cannot be written' refused install "$work/blocked"

# ---- installed, and moved from where it was installed ----------------------------------------------------------------

version=$(sed -n 's/^version: "\(.*\)"/\1/p' CITATION.cff)
check 'make install' make -C "$kit" install PREFIX=/usr DESTDIR="$work/staged"
mv "$work/staged/usr" "$work/moved"
check "the version is CITATION.cff's, $version" grep -q "^Version: $version$" moved/share/pkgconfig/triband.pc
if command -v pkg-config >/dev/null; then
    by_pkg_config() {
        cp "$kit/examples/fd1d_host.c" "$kit/examples/cev_model.h" . &&
            flags=$(PKG_CONFIG_PATH="$work/moved/share/pkgconfig" pkg-config --cflags 'triband >= 2.0') &&
            built . fd1d_host $flags
    }
    check 'by pkg-config' by_pkg_config
else
    skip 'by pkg-config' 'no pkg-config here'
fi

by_cmake() { # by_cmake FOLDER LINES OPTIONS...: a project that finds the kit by these lines
    mkdir -p "$1" && cp "$kit/examples/drop_in_host.c" "$1" || return
    cat >"$1/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.15)
project(mine C)
$2
add_executable(mine drop_in_host.c)
target_link_libraries(mine PRIVATE triband::triband m)
END
    folder=$1
    shift 2
    cmake -S "$folder" -B "$folder/build" -DCMAKE_C_COMPILER="$CC" "$@" && cmake --build "$folder/build" &&
        "$folder/build/mine"
}
if command -v cmake >/dev/null; then
    check 'by find_package' by_cmake found 'find_package(triband 2.0 REQUIRED)' -DCMAKE_PREFIX_PATH="$work/moved"
    too_new() {
        ! by_cmake too_new 'find_package(triband 3.0 REQUIRED)' -DCMAKE_PREFIX_PATH="$work/moved"
    }
    check 'by find_package, a version that there is not' too_new
    fetched() { # fetched FOLDER FROM WHERE...
        folder=$1
        shift
        by_cmake "$folder" "include(FetchContent)
FetchContent_Declare(triband $*)
FetchContent_MakeAvailable(triband)"
    }
    check 'by FetchContent, from a folder' fetched fetched SOURCE_DIR "$kit"
    tar -czf "$work/triband.tar.gz" -C "$kit" --exclude=./build --exclude=./.git .
    check 'by FetchContent, from an archive' fetched fetched_archive URL "file://$work/triband.tar.gz"
    if commit=$(git -C "$kit" rev-parse HEAD 2>/dev/null); then
        check 'by FetchContent, from a repository' fetched fetched_git GIT_REPOSITORY "file://$kit" GIT_TAG "$commit"
    else
        skip 'by FetchContent, from a repository' 'this is no repository, or there is no git here'
    fi
    by_cmake_install() {
        cmake -S "$kit" -B top && cmake --install top --prefix "$work/again" && diff -r moved again
    }
    check 'cmake --install' by_cmake_install
else
    skip 'by CMake, six times' 'no cmake here'
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
