# The kit is headers: nothing needs to be built in order to use it. This file builds the tests, examples and benchmarks.
# CC, CXX and NVCC may be set on the command line; "make NVCC=" does without the CUDA Toolkit.

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
NVCC ?= $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
NVCC := $(NVCC)
GPU := $(if $(NVCC),$(shell nvidia-smi -L 2>/dev/null | sed -n '1s| .UUID.*||p'))
SANITIZER := $(if $(GPU),$(shell command -v compute-sanitizer || ls $(dir $(NVCC))compute-sanitizer 2>/dev/null))
VALGRIND := $(shell command -v valgrind)
CLANG := $(shell command -v clang)
PYTHON ?= $(shell command -v python3)
PYTHON := $(PYTHON)
# OpenMP, where the compiler and its library have it.
openmp_of = $(shell echo 'int main(void) { return 0; }' | $(1) -fopenmp -x c -o /dev/null - 2>/dev/null && \
    echo -fopenmp)
OPENMP := $(call openmp_of,$(CC))
# NCCL, where it is installed: the header and library of the toolkit or the system, or those of the Python package. MPI
# needs no search: mpicxx knows where it is.
NCCL_HOME := $(if $(GPU),$(if $(PYTHON),$(shell $(PYTHON) -c 'from importlib.util import find_spec as f; \
    s = f("nvidia") and f("nvidia.nccl"); print(list(s.submodule_search_locations)[0] if s else "")' 2>/dev/null)))
NCCL_AT := $(if $(NCCL_HOME),-isystem $(NCCL_HOME)/include -L$(NCCL_HOME)/lib -Xlinker -rpath -Xlinker $(NCCL_HOME)/lib)
NCCL := $(if $(GPU),$(firstword $(foreach library,-lnccl -l:libnccl.so.2,$(shell made=$$(mktemp) && \
    $(NVCC) $(NCCL_AT) -include nccl.h -x cu -shared -Xcompiler -fPIC -o $$made /dev/null $(library) 2>/dev/null && \
    echo $(library); rm -f $$made))))
MPICXX := $(if $(NCCL),$(shell command -v mpicxx))
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

# Warnings are errors only where WERROR is set, as in continuous integration: a newer compiler than those tried may warn
# of more, and this must not stop a user's build.
WERROR ?= $(filter true 1,$(CI))
ERRORS := $(if $(WERROR),-Werror)

KIT := $(wildcard *.h $(addsuffix /*.h,trid trid/* pde pde/* bs1d bs3d cpu_avx tests tests/simt examples))
WARNINGS := -Wall -Wextra -Wpedantic $(ERRORS)
# The messages of the undefined-behaviour sanitizer would take a third of the time to compile. Undefined behaviour
# therefore traps, and the address sanitizer says where. That also finds accesses beyond an object.
SANITIZE := -g1 -fsanitize=address,undefined -fsanitize-undefined-trap-on-error -fno-sanitize=object-size,pointer-overflow
SANITIZED_RUN := ASAN_OPTIONS=detect_stack_use_after_return=0:handle_sigill=1
SIMT := -std=c++17 -I. -Wall -Wextra $(ERRORS) -x c++ -include tests/simt/simt.h
WATCHED := -g1 -fsanitize=thread,bounds,shift -fsanitize-undefined-trap-on-error
# The flags of programs that are timed, which print these flags with their results.
GPU_FAST := -O3 -arch=native '-DBENCH_FLAGS="-O3 -arch=native"'
HOST_OPTIMISED := -O3 -march=native $(OPENMP)
HOST_FAST := $(HOST_OPTIMISED) '-DBENCH_FLAGS="$(strip $(HOST_OPTIMISED))"'
comma := ,
# nvcc's options for programs that measure the host as well.
GPU_AND_HOST := -Xcompiler -O3,-march=native$(addprefix $(comma),$(OPENMP))
NVCCFLAGS := -std=c++17 -I. -Xcompiler -Wall,-Wextra $(ERRORS:%=% all-warnings)

EXAMPLES := $(sort $(basename $(notdir $(wildcard examples/*.c examples/*.cu))))
HOST_TESTS := $(filter-out test_nvrtc,$(basename $(notdir $(wildcard tests/test_*.c))))
CPU_TESTS := $(filter test_cpu_%,$(HOST_TESTS))
VALGRIND_TESTS := test_cpu_one test_cpu_solve
PLAIN_TESTS := $(filter-out $(CPU_TESTS),$(HOST_TESTS))
COUNTED_TESTS := test_adi2d_host test_adi3d_host test_cpu_solve
DEVICE_TESTS := $(basename $(notdir $(wildcard tests/test_*.cu tests/simt/test_*.cu)))
# Where the rules below find their sources.
vpath test_%.cu tests tests/simt
# test_simt, the emulator's own test, contains faults on purpose, which no GPU should run. Tests that take nvcc minutes
# come first, so that nothing waits for them in the end.
MINUTES := test_adi3d test_adi3d_others test_adi2d_long test_adi2d_models $(filter test_batch%,$(DEVICE_TESTS))
GPU_TESTS := $(MINUTES) $(filter-out test_simt $(MINUTES),$(DEVICE_TESTS))

.PHONY: help copy single install run test examples codegen gpu-test gpu-test-long gpu-bench bench clean

help:
	@echo 'Nothing needs to be built in order to use the kit: it is headers.'
	@echo
	@echo 'make copy HEADERS="trid.h pde/adi3d.h" TO=../mine   these headers and what they include, to a folder of yours'
	@echo 'make single HEADER=trid/batch.h TO=../mine          the same as one file, ../mine/trid_batch.h'
	@echo 'make install PREFIX=/usr/local                      all headers, for pkg-config and CMake'
	@echo
	@echo 'make run        the tables of the paper, on the GPU where there is one and on the CPU: some minutes'
	@echo 'make examples   every example, to build/NAME; without a GPU those in CUDA, for the emulator, to'
	@echo '                build/emulated-examples/NAME'
	@echo 'make test       what a newcomer runs first: the tests that this machine can run, in five minutes; the last'
	@echo '                line is the sum'
	@echo 'make test-long  the same and those that take longer'
	@echo 'make codegen    local memory, registers and instructions of every device function (needs nvcc)'
	@echo 'make gpu-test   the tests on the GPU, with and without compute-sanitizer, in six minutes'
	@echo 'make gpu-test-long  all of these tests, and each under all tools: hours'
	@echo 'make gpu-bench  the measurements on the GPU, to build/results'
	@echo 'make bench      the measurements on the host, to build/results'
	@echo 'make clean      removes build/'

# Why there is no GPU, where there is none.
NO_GPU := $(if $(GPU),,$(if $(NVCC),no GPU here (nvidia-smi -L names none),no CUDA Toolkit here (no nvcc)))

# "make run" prints what it will do, and a first result, before it builds the programs.
ifneq ($(GPU),)
FIRST := drop_in
FIRST_IS := 1000 systems on the GPU (examples/drop_in.cu)
TABLES := bs1d_timing bs3d_timing cpu_timing
else
FIRST := drop_in_host
FIRST_IS := a system of five rows on the CPU (examples/drop_in_host.c)
TABLES := cpu_timing
endif
run:
	@echo 'The tables of the paper, on this machine, in about $(if $(GPU),five,three) minutes:'
	@echo '  $(if $(GPU),tables 1 and 2 on $(GPU),skipped: tables 1 and 2$(comma) which are of GPUs: $(NO_GPU))'
	@echo '  $(if $(GPU),tables 3$(comma) 4 and 5,tables 3 and 4) on the CPU, with $(JOBS) processors'
	@echo 'First result, $(FIRST_IS):'
	@$(MAKE) --no-print-directory -s build/$(FIRST) && cd build && ./$(FIRST)
	@echo 'Compiling $(TABLES), once: $(if $(GPU),a minute or two,half a minute or more).'
	@$(MAKE) --no-print-directory -s $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS)) $(TABLES:%=build/%)
	@mkdir -p build/results
ifneq ($(GPU),)
	build/bs1d_timing --csv build/results/bs1d_timing.csv
	@echo
	build/bs3d_timing --csv build/results/bs3d_timing.csv
	@echo
	build/cpu_timing --gpu1 build/results/bs1d_timing.csv --gpu3 build/results/bs3d_timing.csv
else
	@echo
	build/cpu_timing
	@echo; echo 'Skipped: tables 1, 2 and 5, which need a GPU: $(NO_GPU).'
endif

copy:
	@test -n '$(TO)' || { echo 'make copy: name a folder, TO=FOLDER' >&2; exit 2; }
	@sh get.sh copy '$(TO)' $(HEADERS)

single:
	@sh get.sh single '$(or $(TO),.)' $(HEADER)

PREFIX ?= /usr/local
install:
	@DESTDIR='$(DESTDIR)' sh get.sh install '$(PREFIX)'

clean:
	rm -rf build

# ---- examples --------------------------------------------------------------------------------------------------------

TIMED_EXAMPLES := cpu_timing
THREADED_EXAMPLES := bs4d_host
C_EXAMPLES := $(filter-out $(TIMED_EXAMPLES) $(THREADED_EXAMPLES),$(basename $(notdir $(wildcard examples/*.c))))
HOST_TOO := locvol_timing adi3d_basket adi3d_heston_hw
CU_EXAMPLES := $(basename $(notdir $(wildcard examples/*.cu)))

PYTHON_EXAMPLES := $(basename $(notdir $(wildcard examples/python/*.py)))
has_module = $(if $(PYTHON),$(shell $(PYTHON) -c \
    'from importlib.util import find_spec; print(find_spec("$(1)") and 1 or "")'))
# The shared library that each program loads, and the modules whose programs can run on this machine.
PYTHON_numpy := build/python/libtriband_cpu.so
PYTHON_torch := build/python/libtriband.so
PYTHON_jax := build/python/libtriband_jax.so
PYTHON_MODULES := $(if $(call has_module,numpy),numpy) \
    $(if $(GPU),$(foreach module,torch jax,$(if $(call has_module,$(module)),$(module))))

# The examples in CUDA go to folders of their own when they are built for the emulator: another machine that shares this
# folder must not take them for programs built for a GPU.
EXAMPLE_DIR := $(if $(GPU),build,build/emulated-examples)
EXAMPLE_PROGRAMS := $(C_EXAMPLES:%=build/%) $(TIMED_EXAMPLES:%=build/%) $(THREADED_EXAMPLES:%=build/%) \
    $(HOST_TOO:%=build/%_host) $(CU_EXAMPLES:%=$(EXAMPLE_DIR)/%)

examples: $(EXAMPLE_PROGRAMS)
	@echo 'build/: $(sort $(C_EXAMPLES) $(TIMED_EXAMPLES) $(THREADED_EXAMPLES) $(HOST_TOO:%=%_host) \
	    $(if $(GPU),$(CU_EXAMPLES)))'
ifeq ($(GPU),)
	@echo '$(EXAMPLE_DIR)/: $(sort $(CU_EXAMPLES))'
	@echo 'There is $(NO_GPU): the examples in CUDA were built for the emulator'
	@echo '(tests/simt), which runs their kernels on the CPU, slowly, and watches every lane.'
endif

# Compiling for all instruction sets takes three times as long with -O2 as with -Og, so the short run takes -Og.
build/cpu_batch: EXAMPLE_LEVEL := $(if $(SHORT_TESTS),-Og)
$(C_EXAMPLES:%=build/%): build/%: examples/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(or $(EXAMPLE_LEVEL),-O2) -I. $(WARNINGS) -o $@ $< -lm

$(TIMED_EXAMPLES:%=build/%) $(THREADED_EXAMPLES:%=build/%): build/%: examples/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(HOST_FAST) -I. $(WARNINGS) -o $@ $< -lm

# The same programs compiled as C, for the host alone.
$(HOST_TOO:%=build/%_host): build/%_host: examples/%.cu $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(HOST_FAST) -I. $(WARNINGS) -x c -o $@ $< -lm

ifneq ($(GPU),)
build/locvol_timing: GPU_FAST += $(GPU_AND_HOST)
build/bs3d_gpus build/bench/bs3d_gpus: LIBRARIES := $(if $(NCCL),-DBS3D_GPUS_NCCL $(NCCL_AT) $(NCCL))
$(CU_EXAMPLES:%=build/%): build/%: examples/%.cu $(KIT)
	@mkdir -p $(@D)
	$(NVCC) $(GPU_FAST) $(NVCCFLAGS) -o $@ $< $(LIBRARIES)

build/bs3d_gpus_mpi: examples/bs3d_gpus.cu $(KIT)
build/bench/bs3d_gpus_mpi: bench/bs3d_gpus.cu $(KIT)
build/bench/bs3d_gpus build/bench/bs3d_gpus_mpi: bench/gpus_march.h
build/bs3d_gpus_mpi build/bench/bs3d_gpus_mpi:
	@mkdir -p $(@D)
	$(NVCC) -ccbin $(MPICXX) $(GPU_FAST) $(NVCCFLAGS) -DBS3D_GPUS_MPI -DBS3D_GPUS_NCCL -o $@ $< $(NCCL_AT) $(NCCL)
endif

# With or without a GPU. The second build also watches every access to memory, as the tests do.
EMULATOR := tests/simt/run tests/simt/launches.awk
define emulate
@mkdir -p $(@D)
CXX='$(CXX)' tests/simt/run $(1) -Wall -Wextra $(ERRORS) -o $@ $<
endef
$(CU_EXAMPLES:%=build/emulated-examples/%): build/emulated-examples/%: examples/%.cu $(KIT) $(EMULATOR)
	$(call emulate,--plain)

$(CU_EXAMPLES:%=build/watched-examples/%): build/watched-examples/%: examples/%.cu $(KIT) $(EMULATOR)
	$(call emulate,--watched)

# bench/solve measures the kernels of two examples.
build/bench/solve: examples/drop_in.cu examples/drop_in_plain.cu

# ---- tests -----------------------------------------------------------------------------------------------------------

# A part is a program and the log of its run, build/log/PART.log. It passes if the program exits with 0 and its counts
# say so. The screen repeats what a log says was skipped, and the first lines of the log of a part that failed. No
# file that a part writes grows beyond 256 MiB, and no part takes more than two hours of a processor.
#
# "make test" runs each test once, in the build that finds most, and takes five minutes on two slow cores: device
# functions watched by the emulator; host functions under the sanitizers; vector code without sanitizers; nvcc for
# one architecture. SHORT_TESTS in the environment asks the tests for a sample of what takes long; they name what they
# leave out as skipped. "make test-long" runs all of each test, and the rest: samples under the sanitizers on arithmetic
# like a GPU's and under Valgrind, host functions compiled by gcc and clang as users compile them, other compilers, more
# architectures.
# Tests that are watched only in the long run: the short run covers most of what they test by test_batch, test_lu,
# test_bs3d, test_adi2d, test_adi3d and the host tests of trid.h and pde/fd.h.
WATCHED_LATER := $(filter-out test_batch,$(filter test_batch%,$(DEVICE_TESTS))) test_fd test_adi2d_long \
    test_adi2d_models test_adi2d_rungs test_adi3d_others test_adi3d_onchip test_bs3d_gpus test_gpus_march test_bs4d
# Where a test is several programs, each for one precision or half of the instances, the sanitizers and nvcc compile
# one of them.
ONE_OF_EACH := $(filter-out test_batch_single test_batch_linked test_batch_long_single test_adi3d_others,$(DEVICE_TESTS))
# Left to the long run: examples that take long to compile or to run, and the test of one of them.
EXAMPLES_LATER := bs4d bs4d_host bs3d_gpus cut_lines bs3d_own_payoff bs3d_american adi3d_basket adi3d_heston_hw \
    batch_graph replace_cusparse bs1d_timing bs3d_timing locvol_timing
HOST_LATER := test_cpu_bs4d
PARTS := headers costs $(filter-out $(WATCHED_LATER:%=watched-%),$(DEVICE_TESTS:%=watched-%)) \
    $(if $(GPU),,nvcc) $(filter-out $(HOST_LATER:%=host-%),$(HOST_TESTS:%=host-%)) \
    $(filter-out $(TIMED_EXAMPLES:%=example-%) $(EXAMPLES_LATER:%=example-%),$(EXAMPLES:%=example-%)) \
    example-from_c example-from_fortran example-bs3d_gpus_mpi $(PYTHON_EXAMPLES:%=example-%) nvrtc text shown getting
ARM_PARTS := $(CPU_TESTS:%=arm-%) arm-cpu_own_kernel arm-headers
LONG_PARTS := $(EXAMPLES_LATER:%=example-%) $(HOST_TOO:%=example-%_host) example-gpu_library $(HOST_LATER:%=host-%) \
    $(WATCHED_LATER:%=watched-%) $(ONE_OF_EACH:%=emulated-%) simt-run \
    $(PLAIN_TESTS:%=fast-%) $(PLAIN_TESTS:%=clang-%) $(COUNTED_TESTS:%=undefined-%) $(CPU_TESTS:%=sanitized-%) $(VALGRIND_TESTS:%=valgrind-%) \
    $(ARM_PARTS) $(TIMED_EXAMPLES:%=optimised-%) headers-clang compilers nvcc-all faults-planted
GPU_PARTS := $(GPU_TESTS:%=gpu-%)
TOOLS := memcheck initcheck synccheck racecheck
TOOL_PARTS := $(foreach tool,$(TOOLS),$(GPU_TESTS:%=$(tool)-%))

define run
@mkdir -p build/log; (ulimit -f 524288; ulimit -t 7200; $(1)) >build/log/$@.log 2>&1; \
awk -v part=$@ -v status=$$? -v count=build/log/$@.count '$(summary)' build/log/$@.log
endef
define summary
/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$$/ { passed += $$1; failed += $$3; skipped += $$5; counted = 1; next } \
/^skipped: / && ++told <= 100 { print part ": " $$0 } \
++lines <= 500 { log_text = log_text "    " substr($$0, 1, 1000) "\n" } \
lines == 501 { log_text = log_text "    and so on in build/log/" part ".log\n" } \
END { \
    if (!counted || (status && !failed)) { failed++; log_text = log_text "    exit status " status "\n" } \
    line = passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"; \
    print part ": " line; \
    print line >count; \
    if (failed) printf "%s", log_text \
}
endef
one = echo '$(1) passed, $(2) failed, $(3) skipped'

# Runs the parts and adds up their counts; a part without counts was not built, and has failed.
define all_parts
@rm -rf build/log; mkdir -p build/log
+@$(MAKE) --no-print-directory -k -Otarget $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS)) $(1) || :
@cd build/log; for part in $(1); do \
    if [ -f $$part.count ]; then cat $$part.count; else echo "$$part: not built" >&2; $(call one,0,1,0); fi; done | \
awk '{ p += $$1; f += $$3; s += $$5 } END { print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"; exit f > 0 }'
endef

.PHONY: test-long $(PARTS) $(LONG_PARTS) gpu $(GPU_PARTS) $(TOOL_PARTS)

test: export SHORT_TESTS := 1
test:
	@echo 'The short run: what a test leaves out it names as skipped. "make test-long" leaves out nothing, and has also:'
	@echo '$(LONG_PARTS)' | fmt -w 110 | sed 's/^/    /'
	$(call all_parts,$(PARTS) $(if $(GPU),$(GPU_PARTS),gpu))

test-long:
	$(call all_parts,$(LONG_PARTS) $(PARTS) $(if $(GPU),$(GPU_PARTS),gpu))

# To detect uses after a return, the address sanitizer keeps local variables on a stack of its own. By gcc 13 this stack
# is not aligned to 64 bytes, as vectors need, so SANITIZED_RUN turns the detection off.
# Threads that wait for others must not spin where cores are few and busy: a test of 2 seconds then took 40 seconds of
# processor time.
HOST_RUN := $(SANITIZED_RUN) OMP_WAIT_POLICY=passive
# All of test_adi3d_host takes a quarter of an hour under the sanitizers; fast-test_adi3d_host runs all of it.
host-test_adi3d_host: HOST_RUN += SHORT_TESTS=1
$(HOST_TESTS:%=host-%): host-%: build/host/%
	$(call run,$(HOST_RUN) $<)

# The tests of cpu_avx.h compile four instruction sets. Under the sanitizers that would take minutes, and with -O1 two
# and a half times as long as with -Og, which makes programs that run equally fast.
$(CPU_TESTS:%=build/host/%): build/host/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -I. $(WARNINGS) -g1 -Og $(OPENMP) -o $@ $< -lm

# The loops of pde/adi2d.h and pde/adi3d.h are inlined into each other, and the sanitizers' code in them takes long to
# optimise: hence -O0. Their workers are threads.
build/host/test_adi2d_host build/host/test_adi3d_host: HOST_LEVEL := -O0
build/host/test_adi2d_host build/host/test_adi2d_orders build/host/test_adi3d_host: HOST_THREADS := -pthread $(OPENMP)
build/host/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -I. $(WARNINGS) $(or $(HOST_LEVEL),-Og) $(HOST_THREADS) $(SANITIZE) -o $@ $< -lm

# As users compile: gnu11, in which the compiler contracts products and sums, with everything inlined and vectorised.
FAST := -std=gnu11 -I. $(WARNINGS) -O3 -march=native
$(PLAIN_TESTS:%=fast-%): fast-%: build/fast/%
	$(call run,$(HOST_RUN) $<)

build/fast/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) $(FAST) $(OPENMP) -o $@ $< -lm

# The same by clang, with the longest vectors of the processor.
ifeq ($(CLANG),)
$(PLAIN_TESTS:%=clang-%) $(COUNTED_TESTS:%=undefined-%):
	$(call run,echo 'skipped: $@: no clang here'; $(call one,0,0,1))
else
$(PLAIN_TESTS:%=clang-%): clang-%: build/clang/%
	$(call run,$(HOST_RUN) $<)
$(COUNTED_TESTS:%=undefined-%): undefined-%: build/undefined/%
	$(call run,SHORT_TESTS=1 $(HOST_RUN) $<)
endif

build/clang/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CLANG) $(FAST) -mprefer-vector-width=512 -o $@ $< -lm

# Unlike gcc's, clang's sanitizer also finds an offset added to a null pointer. Headers that lay out memory might do
# that while they count bytes, and cpu_avx_solve, which has no a, b and c.
build/undefined/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CLANG) -std=c11 -I. $(WARNINGS) -g1 -O0 -fsanitize=undefined -fsanitize-trap=undefined -pthread -o $@ $< -lm

# A sample: host-TEST runs all of it.
$(CPU_TESTS:%=sanitized-%): sanitized-%: build/sanitized/%
	$(call run,SHORT_TESTS=1 $(HOST_RUN) $<)

build/sanitized/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -I. $(WARNINGS) -Og $(SANITIZE) $(OPENMP) -o $@ $< -lm

# Valgrind finds what the sanitizers do not, above all uninitialised numbers. It has no AVX-512; the tests say so.
ifeq ($(VALGRIND),)
$(CPU_TESTS:%=valgrind-%):
	$(call run,echo 'skipped: $@: no valgrind here'; $(call one,0,0,1))
else
$(CPU_TESTS:%=valgrind-%): valgrind-%: build/valgrind/%
	$(call run,SHORT_TESTS=1 $(VALGRIND) -q --error-exitcode=9 $<)
endif

build/valgrind/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -I. $(WARNINGS) -g1 -O1 -o $@ $< -lm

# 64-bit Arm, by a cross-compiler and an emulator of the processor, which uses the compiler's libraries: a sample of the
# tests, each in less than a minute of a processor.
ARM := aarch64-linux-gnu-
ARM_LACKS := $(firstword $(foreach tool,$(ARM)gcc $(ARM)g++ qemu-aarch64,$(if $(shell command -v $(tool)),,$(tool))))
ifneq ($(ARM_LACKS),)
$(ARM_PARTS):
	$(call run,echo 'skipped: $@: no $(ARM_LACKS) here'; $(call one,0,0,1))
else
ARM_OPENMP := $(call openmp_of,$(ARM)gcc)
ARM_ROOT := $(abspath $(dir $(shell $(ARM)gcc -print-file-name=libc.so.6))..)
ARM_RUN := ulimit -t 600; OMP_WAIT_POLICY=passive SHORT_TESTS=1 qemu-aarch64 -L $(ARM_ROOT)
$(CPU_TESTS:%=arm-%): arm-%: build/arm/%
	$(call run,$(ARM_RUN) $<)

arm-cpu_own_kernel: build/arm/cpu_own_kernel
	$(call run,$(ARM_RUN) $< && $(call one,1,0,0))

arm-headers:
	$(call run,for language in 'gcc -std=c11 -x c' 'g++ -std=c++17 -x c++'; do \
	    $(ARM)$$language $(WARNINGS) -O2 -c -o /dev/null cpu_avx.h && $(call one,1,0,0) || \
	    { echo "cpu_avx.h by $$language"; $(call one,0,1,0); }; done)

build/arm/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(ARM)gcc -std=c11 -I. $(WARNINGS) -g1 -O1 $(ARM_OPENMP) -o $@ $< -lm

build/arm/%: examples/%.c $(KIT)
	@mkdir -p $(@D)
	$(ARM)gcc -std=c11 -O2 -I. $(WARNINGS) -o $@ $< -lm
endif

# Under the sanitizers, a sample of each test, which the watched build runs as a whole. If the compiler can, it fills
# uninitialised variables with a pattern. If the processor has fused multiply-adds, arithmetic is like a GPU's: products
# and sums are contracted, for which gcc needs its expensive optimisations, and a reciprocal is up to a unit in the last
# place off.
$(DEVICE_TESTS:%=emulated-%): emulated-%: build/emulated/%
	$(call run,SHORT_TESTS=1 $(SANITIZED_RUN) $<)

PATTERN := $(shell $(CXX) -ftrivial-auto-var-init=pattern -E -x c++ /dev/null >/dev/null 2>&1 && \
    echo -ftrivial-auto-var-init=pattern)
CONTRACTED := $(shell grep -qw fma /proc/cpuinfo && \
    echo -fexpensive-optimizations -mfma -ffp-contract=fast -DSIMT_PERTURBED)
build/emulated/%: %.cu $(KIT)
	@mkdir -p $(@D)
	$(CXX) $(SIMT) -O1 $(SANITIZE) $(PATTERN) $(CONTRACTED) -o $@ $<

$(DEVICE_TESTS:%=watched-%): watched-%: build/watched/%
	$(call run,$<)

# The compiler reports every access to memory to the functions of the thread sanitizer. The emulator supplies these
# functions, so the program is linked without that sanitizer. An index beyond an array in registers stops the program
# (exit status 132); "make emulated-TEST" tells where.
# A test of many short launches takes longer to compile than to run. -Og halves the time to compile.
QUICK_TESTS := test_adi2d test_lu test_transpose test_trid
$(QUICK_TESTS:%=build/watched/%): LEVEL := -Og
# The compiler must not split the misaligned vectors of this test, or the emulator would not see them.
build/watched/test_simt: LEVEL := -O1 -fno-tree-sra
build/watched/%: %.cu $(KIT)
	@mkdir -p $(@D)
	$(CXX) $(SIMT) $(or $(LEVEL),-O1) $(WATCHED) -c -o $@.o $<
	$(CXX) -o $@ $@.o

# These tests include other tests, or the examples and benchmarks that they test.
$(foreach build,emulated watched gpu,build/$(build)/test_adi3d_others): tests/test_adi3d.cu
$(foreach build,emulated watched gpu,$(addprefix build/$(build)/test_batch_,single linked long long_single)): \
    tests/test_batch.cu
$(foreach build,emulated watched gpu,build/$(build)/test_batch_long_single): tests/test_batch_long.cu
build/emulated/test_lsmc build/watched/test_lsmc build/gpu/test_lsmc build/nvcc/test_lsmc.ptx: \
    examples/american_lsmc.cu examples/american_lsmc_host.c
build/host/test_lsmc_host: examples/american_lsmc_host.c
build/emulated/test_bs4d build/watched/test_bs4d build/gpu/test_bs4d: examples/bs4d.cu
build/host/test_cpu_bs4d build/sanitized/test_cpu_bs4d build/valgrind/test_cpu_bs4d build/arm/test_cpu_bs4d: \
    examples/bs4d_host.c
$(foreach build,emulated watched gpu,build/$(build)/test_gpus_march) build/nvcc/test_gpus_march.ptx: \
    bench/gpus_march.h

# An example that needs a GPU exits with 3 where there is none. Under the emulator each example takes a smaller problem.
# Examples that are timed take longest to compile, and are left to the long run.
$(TIMED_EXAMPLES:%=optimised-%): ARGUMENTS := --quick
example-bs4d_host: ARGUMENTS := --size 16
example-locvol_timing example-locvol_timing_host: ARGUMENTS := --quick
# shared_pcr has barriers of its own, so it runs in the watched build.
$(foreach program,$(filter-out $(TIMED_EXAMPLES:%=build/%),$(EXAMPLE_PROGRAMS)), \
    $(eval example-$(notdir $(program)): $(program:build/emulated-examples/shared_pcr=build/watched-examples/shared_pcr)))
$(TIMED_EXAMPLES:%=optimised-%): optimised-%: build/%
$(HOST_TOO:%=example-%_host) $(filter-out $(TIMED_EXAMPLES:%=example-%),$(EXAMPLES:%=example-%)) \
    $(TIMED_EXAMPLES:%=optimised-%):
	$(call run,$< $(ARGUMENTS); case $$? in (0) $(call one,1,0,0);; (3) echo 'skipped: $@: no GPU'; $(call one,0,0,1);; \
	    (*) exit 1;; esac)

# The same program with MPI: a process for each GPU of the machine.
ifeq ($(MPICXX),)
example-bs3d_gpus_mpi:
	$(call run,echo 'skipped: $@: $(if $(GPU),$(if $(NCCL),no MPI here (no mpicxx),no NCCL here: GPUs copy),$(NO_GPU))'; \
	    $(call one,0,0,1))
else
example-bs3d_gpus_mpi: build/bs3d_gpus_mpi
	$(call run,mpirun -n $(shell nvidia-smi -L | wc -l) $< && $(call one,1,0,0))
endif

# A program in C that calls the launches of trid/batch.h, which are in the one file that nvcc compiles. That takes nvcc
# minutes; without a GPU only the long run does it.
example-from_c: $(if $(GPU),build/from_c,$(if $(NVCC),build/nvcc/from_c/solve.o))
	$(call run,$(if $(GPU),$<,(exit 3)); case $$? in (0) $(call one,1,0,0);; \
	    (3) echo 'skipped: $@: $(NO_GPU)'; $(call one,0,0,1);; (*) exit 1;; esac)

# From Fortran, through a file in C.
GFORTRAN := $(shell command -v gfortran)
ifeq ($(GFORTRAN),)
example-from_fortran:
	$(call run,echo 'skipped: $@: no gfortran here'; $(call one,0,0,1))
else
example-from_fortran: build/from_fortran/columns
	$(call run,$< && $(call one,1,0,0))
endif

build/from_fortran/columns: examples/from_fortran/columns.f90 build/from_fortran/kit.o
	$(GFORTRAN) -std=f2003 -O2 $(OPENMP) -Wall -Wextra $(ERRORS) -J $(@D) -o $@ $^

build/from_fortran/kit.o: examples/from_fortran/kit.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -Og $(OPENMP) -I. $(WARNINGS) -c -o $@ $<

# From Python, by shared libraries made as the first lines of each program say. The programs name what is missing.
$(foreach module,$(PYTHON_MODULES),$(eval example-$(module)_tridiagonal: $(PYTHON_$(module))))
$(PYTHON_EXAMPLES:%=example-%): example-%: examples/python/%.py
	$(call run,$(if $(PYTHON),$(PYTHON) $< $(PYTHON_$(*:_tridiagonal=)),echo 'skipped: $@: no Python here'; (exit 3)); \
	    case $$? in (0) $(call one,1,0,0);; (3) $(call one,0,0,1);; (*) exit 1;; esac)

build/python/libtriband_cpu.so: examples/python/cpu_library.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O3 $(OPENMP) -fPIC -shared -I. $(WARNINGS) -o $@ $<

build/python/libtriband.so: examples/python/gpu_library.cu $(KIT)
	@mkdir -p $(@D)
	$(NVCC) -O3 -arch=native -Xcompiler -fPIC -shared $(NVCCFLAGS) -o $@ $<

# Without a GPU, gpu_library.cu is compiled for the emulator, to see that it compiles without warnings.
example-gpu_library: build/python/gpu_library.o
	$(call run,$(call one,1,0,0))

build/python/gpu_library.o: examples/python/gpu_library.cu $(KIT)
	@mkdir -p $(@D)
	$(CXX) $(SIMT) -O0 -c -o $@ $<

# XLA's headers have warnings of their own.
build/python/libtriband_jax.so: examples/python/jax_library.cu $(KIT)
	@mkdir -p $(@D)
	$(NVCC) -std=c++17 -O3 -arch=native -Xcompiler -fPIC -shared -I. \
	    -isystem "$$($(PYTHON) -c 'import jax; print(jax.ffi.include_dir())')" -o $@ $<

headers:
	$(call run,CC='$(CC)' CXX='$(CXX)' NVCC='$(NVCC)' sh tests/headers.sh)

headers-clang:
	$(call run,CXX='$(CXX)' sh tests/headers.sh clang)

compilers:
	$(call run,CC='$(CC)' NVCC='$(NVCC)' sh tests/compilers.sh)

costs: build/cpu_batch
	$(call run,CC='$(CC)' CXX='$(CXX)' NVCC='$(NVCC)' sh tests/costs.sh)

simt-run:
	$(call run,CC='$(CC)' CXX='$(CXX)' sh tests/simt/run_test.sh)

text:
	$(call run,sh tests/text.sh)

# Can the faults of tests/faults.txt still be planted? tests/faults.sh itself, a long run, says which tests kill them.
faults-planted:
	$(call run,sh tests/faults.sh -n)

# Checks that what get.sh makes compiles.
getting:
	$(call run,CC='$(CC)' CXX='$(CXX)' NVCC='$(NVCC)' sh tests/getting.sh)

# The commands that the documents show.
shown:
	$(call run,CC='$(CC)' CXX='$(CXX)' NVCC='$(NVCC)' GPU='$(GPU)' PYTHON='$(PYTHON)' sh tests/shown.sh)

# ---- with the CUDA Toolkit -------------------------------------------------------------------------------------------

ifeq ($(NVCC),)
nvcc nvcc-all nvrtc:
	$(call run,echo 'skipped: $@: no CUDA Toolkit here'; $(call one,0,0,1))
codegen:
	@echo 'codegen: no nvcc here'; $(call one,0,0,1)
else
codegen:
	NVCC='$(NVCC)' sh tests/codegen.sh

# Most of nvcc's time goes into optimising and assembling. The short run compiles the examples only to PTX, without
# optimising. It assembles only ASSEMBLED, which between them contain the inline PTX of the headers, and leaves out
# ALIKE, most of whose kernels are in other examples too. The long run compiles the examples except ALIKE as users do,
# for the newest architecture. It compiles to PTX all examples for the oldest architecture, and, for the newest, ALIKE,
# the tests and the benchmarks (those that include cusparse.h where the toolkit has it). A machine with a GPU compiles everything for that GPU instead.
ARCHS = $(shell $(NVCC) --list-gpu-arch | sed -n 's/^compute_//p' | awk '$$1 >= 75' | sort -n)
NEWEST = $(lastword $(ARCHS))
AS_PTX = $(NVCC) -arch=compute_$(1) -Xcicc -O0 $(NVCCFLAGS) -ptx -o $@ $<
AS_OBJECT = $(NVCC) -gencode arch=compute_$(NEWEST),code=sm_$(NEWEST) $(NVCCFLAGS) -c -o $@ $<

TOOLKIT := $(dir $(patsubst %/,%,$(dir $(shell readlink -f $(NVCC)))))
GPU_BENCHES := $(basename $(notdir $(wildcard bench/*.cu)))
ALIKE := %_timing bs4d bs3d_gpus adi3d_heston_hw batch_graph bs1d_dividend bs3d_american adi3d_basket
ASSEMBLED := first_kernel batch transposes bs3d_price
nvcc: $(patsubst %,build/nvcc/%.ptx,$(filter-out $(ALIKE) $(ASSEMBLED),$(CU_EXAMPLES))) $(ASSEMBLED:%=build/nvcc/%.o)
nvcc-all: $(patsubst %,build/nvcc/%.o,$(filter-out $(ALIKE),$(CU_EXAMPLES))) build/from_c \
    $(CU_EXAMPLES:%=build/nvcc/oldest/%.ptx) \
    $(patsubst %,build/nvcc/%.ptx,$(filter $(ALIKE),$(CU_EXAMPLES)) $(filter $(ONE_OF_EACH),$(GPU_TESTS))) \
    $(patsubst %,build/nvcc/bench/%.ptx,$(filter-out $(if $(wildcard $(TOOLKIT)include/cusparse.h),,batch solve),$(GPU_BENCHES)))
nvcc nvcc-all:
	$(call run,$(call one,$(words $^),0,0))

build/nvcc/%.o: examples/%.cu $(KIT)
	@mkdir -p $(@D)
	$(AS_OBJECT)

build/nvcc/oldest/%.ptx: examples/%.cu $(KIT)
	@mkdir -p $(@D)
	$(call AS_PTX,$(firstword $(ARCHS)))

build/nvcc/%.ptx: examples/%.cu $(KIT)
	@mkdir -p $(@D)
	$(call AS_PTX,$(NEWEST))

build/nvcc/bench/%.ptx: bench/%.cu $(KIT)
	@mkdir -p $(@D)
	$(call AS_PTX,$(NEWEST))

build/nvcc/%.ptx: tests/%.cu $(KIT)
	@mkdir -p $(@D)
	$(call AS_PTX,$(NEWEST))

build/from_c: build/nvcc/from_c/solve.o build/nvcc/from_c/library.o
	$(NVCC) -o $@ $^

build/nvcc/from_c/solve.o: examples/from_c/solve.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -I. -isystem $(TOOLKIT)include $(WARNINGS) -c -o $@ $<

build/nvcc/from_c/library.o: examples/from_c/library.cu $(KIT)
	@mkdir -p $(@D)
	$(NVCC) $(if $(GPU),-O3 -arch=native,-gencode arch=compute_$(NEWEST),code=sm_$(NEWEST)) $(NVCCFLAGS) -c -o $@ $<

NVRTC := $(firstword $(wildcard $(TOOLKIT)lib64/libnvrtc.so $(TOOLKIT)targets/*/lib/libnvrtc.so))
ifeq ($(NVRTC),)
nvrtc:
	$(call run,echo 'skipped: the toolkit has no NVRTC'; $(call one,0,0,1))
else
nvrtc: build/host/test_nvrtc
	$(call run,$<)

build/host/test_nvrtc: tests/test_nvrtc.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O1 -I. -isystem $(TOOLKIT)include $(WARNINGS) -o $@ $< $(NVRTC) -Wl,-rpath,$(dir $(NVRTC))
endif
endif

# ---- with a GPU ------------------------------------------------------------------------------------------------------

ifeq ($(GPU),)
gpu:
	$(call run,$(foreach part,$(GPU_PARTS),echo 'skipped: $(part): no GPU or no nvcc here';) \
	    $(call one,0,0,$(words $(GPU_PARTS))))
gpu-test gpu-test-long gpu-bench:
	@echo '$@: no GPU or no nvcc here'; $(call one,0,0,1)
else
# "make gpu-test" takes six minutes to compile and run on sixteen processors and one GPU. There and in "make
# test" the tests in SAMPLED take a sample, since checking their answers on the host takes long. "make gpu-test-long"
# runs all of all tests, and every tool on every test.
BATCHES := $(filter-out test_batch_cluster test_batch_only,$(filter test_batch%,$(GPU_TESTS)))
SAMPLED := test_bs3d $(BATCHES)
$(GPU_PARTS): gpu-%: build/gpu/%
	$(call run,$(if $(filter $(SAMPLED),$*),,env -u SHORT_TESTS) $<)

# Do not use nvcc's -split-compile: it gives kernels that share functions too small a stack (docs/tests.md).
build/gpu/%: tests/%.cu $(KIT)
	@mkdir -p $(@D)
	$(NVCC) -O3 -lineinfo -arch=native $(NVCCFLAGS) -o $@ $<

# Options of each tool, and the tests that take it too long for "make gpu-test". By default synccheck tracks too few
# barriers in shared memory (tests/sanitizer/barriers.cu), so it is told a number that is enough.
ASKED_memcheck := --report-api-errors no
ASKED_synccheck := --num-cuda-barriers 8192
SLOW_memcheck := $(BATCHES) test_adi2d_long test_adi2d_models
SLOW_initcheck := $(SLOW_memcheck) test_bs3d
SLOW_synccheck := $(SLOW_initcheck) test_bs1d
SLOW_racecheck := $(SLOW_initcheck) test_batch_cluster test_bs3d_gpus test_adi3d
# These take nvcc too long.
LATER := test_adi2d_long test_adi3d_others test_batch_linked test_batch_long_single test_batch_hostile
QUICK_PARTS := $(filter-out $(LATER:%=gpu-%),$(GPU_PARTS))
QUICK_TOOL_PARTS := $(foreach tool,$(TOOLS),$(patsubst %,$(tool)-%,$(filter-out $(SLOW_$(tool)) $(LATER),$(GPU_TESTS))))

gpu-test: export SHORT_TESTS := 1
gpu-test:
	@echo 'The short run: what a test leaves out it names as skipped. "make gpu-test-long" leaves out nothing, and has also:'
	@echo '$(filter-out $(QUICK_PARTS) $(QUICK_TOOL_PARTS),$(GPU_PARTS) $(TOOL_PARTS))' | fmt -w 110 | sed 's/^/    /'
	$(call all_parts,$(QUICK_PARTS) $(QUICK_TOOL_PARTS))

gpu-test-long:
	$(call all_parts,$(GPU_PARTS) $(TOOL_PARTS))

# The name of a tool part is TOOL-TEST. A tool makes a test up to a thousand times slower, so each test takes its
# sample, and no more than half an hour.
define tool_part
$(1)-$(2): build/gpu/$(2)
	$$(call run,$(if $(SANITIZER),SHORT_TESTS=1 timeout 1800 $(SANITIZER) --tool $(1) $(ASKED_$(1)) --error-exitcode 9 $$<, \
	    echo 'skipped: $(1)-$(2): no compute-sanitizer here'; $$(call one,0,0,1)))
endef
$(foreach tool,$(TOOLS),$(foreach test,$(GPU_TESTS),$(eval $(call tool_part,$(tool),$(test)))))

# Results go to build/results; those that the pages show are kept in docs/results.
gpu-bench: $(GPU_BENCHES:%=build/bench/%) build/bs1d_timing build/american_lsmc build/locvol_timing build/adi2d_heston \
    build/bs3d_timing build/bs4d build/batch $(foreach module,$(PYTHON_MODULES),$(PYTHON_$(module)))
	@mkdir -p build/results
	@for bench in $(filter-out build/bs3d_timing build/bench/bs3d_gpus build/batch build/adi2d_heston build/python/%,$^); do \
	    echo "$$bench"; $$bench --csv build/results/$${bench##*/}.csv || exit 1; done
	build/bs3d_timing --large --csv build/results/bs3d_timing.csv
	build/bench/bs3d_gpus --measure --csv build/results/bs3d_gpus.csv
	build/bench/bs3d_gpus --links --csv build/results/bs3d_gpus-links.csv
	{ sed -n 1p build/results/locvol_timing.csv; build/adi2d_heston; } >build/results/adi2d_heston.txt
	for rows in 256 200 255; do build/batch $$rows || exit 1; done >build/results/batch.txt
	sh bench/conflicts.sh build/bench/transpose >build/results/conflicts.txt

build/bench/locvol_variants build/bench/adi3d: GPU_FAST += $(GPU_AND_HOST)
$(GPU_BENCHES:%=build/bench/%): build/bench/%: bench/%.cu $(KIT)
	@mkdir -p $(@D)
	$(NVCC) $(GPU_FAST) $(NVCCFLAGS) -o $@ $< $(LIBRARIES) -lcusparse
endif

# adi3d_peer.c and fd1d_peer.c are libraries for adi3d_peer.py and fd1d_peer.py.
HOST_BENCHES := $(filter-out adi3d_peer fd1d_peer,$(basename $(notdir $(wildcard bench/*.c))))
bench: $(HOST_BENCHES:%=build/bench/%) build/cpu_timing build/bs4d_host build/locvol_timing_host
	@mkdir -p build/results
	@for bench in $^; do \
	    echo "$$bench"; $$bench --csv build/results/$${bench##*/}.csv || exit 1; done

$(HOST_BENCHES:%=build/bench/%): build/bench/%: bench/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(HOST_FAST) -I. $(WARNINGS) -o $@ $< -lm
