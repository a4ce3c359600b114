#!/bin/sh
# run_test.sh - checks that tests/simt/run compiles and runs programs unchanged, wherever they lie.
#
# Run from the top folder. CXX names the compiler.

name=simt-run
. tests/check.sh
run=$top/tests/simt/run
export CXX

# status_of WANTED COMMAND...
status_of() {
    wanted=$1
    shift
    "$@"
    status=$?
    [ $status = $wanted ] || { echo "exit status $status, not $wanted"; false; }
}

check 'launches in every form' "$run" -Wall -Wextra -Werror "$top/tests/simt/launches.cu"

# A program in a folder of its own, with a header of the kit beside it. Its exit status is the number of its arguments.
# Each thread copies one of them.
mkdir 'my programs'
cp "$top/trid.h" 'my programs'
cat >'my programs/mine.cu' <<'END'
#include <cuda_runtime.h>
#include "trid.h"
#include <stdlib.h>

__global__ void copy(const int *from, int *to)
{
    __shared__ int there[32];
    there[threadIdx.x] = from[threadIdx.x];
    BARRIER;
    to[threadIdx.x] = there[31 - threadIdx.x];
}

int main(int count, char **values)
{
    int *device, host[64] = {};
    for (int i = 0; i < 32; i++) host[i] = i + 1 < count ? atoi(values[i + 1]) : 0;
    cudaMalloc((void **)&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    copy<<<1, 32>>>(device, device + 32);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        if (host[i] != host[63 - i]) return 100;
    return cudaFree(device) == cudaSuccess ? count - 1 : 101;
}
END
check 'its exit status' status_of 3 "$run" --plain '-DBARRIER=__syncthreads()' 'my programs/mine.cu' 7 -8 '9 '
check 'the same, sanitized' status_of 1 "$run" --sanitized '-DBARRIER=__syncthreads()' 'my programs/mine.cu' 7
"$run" -DBARRIER= 'my programs/mine.cu' 2>faults
check 'a missing barrier, which the watched build sees' test $? = 70
check 'what it saw is told' grep 'shared memory read before it was written' faults

printf 'void f()\n{\n    g<<<1,\n        1>>>();\n}\n' >wrong.cu
check 'an error stands where the source has it' sh -c '! "$1" wrong.cu 2>errors && grep -q "^wrong.cu:3:" errors' - "$run"
check 'without a file it says how it is called' status_of 2 "$run" --plain

# Two libraries, each with an emulator of its own, in a program that has none.
cat >library.cu <<'END'
static __global__ void number(int *to)
{
    __shared__ int there[32];
    there[threadIdx.x] = NUMBER;
    __syncthreads();
    if (threadIdx.x == 0) *to = there[31];
}

extern "C" int run_kernel(void)
{
    int *device, host = -1;
    cudaMalloc((void **)&device, sizeof *device);
    number<<<1, 32>>>(device);
    cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
    return cudaFree(device) == cudaSuccess ? host : -2;
}
END
cat >loads.c <<'END'
#include <dlfcn.h>

int main(int count, char **files)
{
    int sum = 0;
    for (int i = 1; i < count; i++) {
        void *library = dlopen(files[i], RTLD_NOW | RTLD_GLOBAL);
        int (*run_kernel)(void) = library ? (int (*)(void))dlsym(library, "run_kernel") : 0;
        sum += run_kernel ? run_kernel() : 100;
    }
    return sum;
}
END
check 'a library, watched' "$run" -DNUMBER=3 -fPIC -shared -o ./three.so library.cu
check 'a library, plain' "$run" --plain -DNUMBER=4 -fPIC -shared -o ./four.so library.cu
check 'a program that loads them' $CC -o loads loads.c -ldl
check 'kernels of two libraries' status_of 7 ./loads ./three.so ./four.so

report
