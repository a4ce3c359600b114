# The kit is headers: nothing needs to be built in order to use it. This file builds what tests, shows and measures
# them. CC, CXX and NVCC may be set on the command line; "make NVCC=" does without the CUDA Toolkit.

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
# Threads, where the compiler has them and the library that they need.
openmp_of = $(shell echo 'int main(void) { return 0; }' | $(1) -fopenmp -x c -o /dev/null - 2>/dev/null && \
    echo -fopenmp)
OPENMP := $(call openmp_of,$(CC))
# NCCL, where it is: its header and library as the toolkit or the system has them, or as Python's package does. MPI's
# compiler knows its own.
NCCL_HOME := $(if $(GPU),$(if $(PYTHON),$(shell $(PYTHON) -c 'from importlib.util import find_spec as f; \
    s = f("nvidia") and f("nvidia.nccl"); print(list(s.submodule_search_locations)[0] if s else "")' 2>/dev/null)))
NCCL_AT := $(if $(NCCL_HOME),-isystem $(NCCL_HOME)/include -L$(NCCL_HOME)/lib -Xlinker -rpath -Xlinker $(NCCL_HOME)/lib)
NCCL := $(if $(GPU),$(firstword $(foreach library,-lnccl -l:libnccl.so.2,$(shell made=$$(mktemp) && \
    $(NVCC) $(NCCL_AT) -include nccl.h -x cu -shared -Xcompiler -fPIC -o $$made /dev/null $(library) 2>/dev/null && \
    echo $(library); rm -f $$made))))
MPICXX := $(if $(NCCL),$(shell command -v mpicxx))
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

# Warnings are errors where WERROR is set, as continuous integration has it: a compiler newer than all that were tried
# may warn of more, and a user's build shall not end there.
WERROR ?= $(filter true 1,$(CI))
ERRORS := $(if $(WERROR),-Werror)

KIT := $(wildcard *.h $(addsuffix /*.h,trid trid/* pde pde/* bs1d bs3d cpu_avx tests tests/simt examples))
WARNINGS := -Wall -Wextra -Wpedantic $(ERRORS)
# The sanitizers' own words take a third of the time to compile: what is undefined stops the program instead, and the
# address sanitizer says where. It also sees what lies beyond an object.
SANITIZE := -g1 -fsanitize=address,undefined -fsanitize-undefined-trap-on-error -fno-sanitize=object-size,pointer-overflow
SANITIZED_RUN := ASAN_OPTIONS=detect_stack_use_after_return=0:handle_sigill=1
SIMT := -std=c++17 -I. -Wall -Wextra $(ERRORS) -x c++ -include tests/simt/simt.h
WATCHED := -g1 -fsanitize=thread,bounds,shift -fsanitize-undefined-trap-on-error
# What programs are timed with, and say of themselves.
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
COUNTED_TESTS := test_adi2d_host test_adi3d_host
DEVICE_TESTS := $(basename $(notdir $(wildcard tests/test_*.cu tests/simt/test_*.cu)))
# Where the rules below find their sources.
vpath test_%.cu tests tests/simt
# What tests the emulator itself plants faults that no GPU should run. What takes nvcc minutes comes first, so that
# nothing waits for it in the end.
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
	@echo 'make run        the tables of the papers, on the GPU where there is one and on the CPU: some minutes'
	@echo 'make examples   every example, to build/NAME; without a GPU those in CUDA, for the emulator, to'
	@echo '                build/emulated-examples/NAME'
	@echo 'make test       what a newcomer runs first: the tests that this machine can run, in five minutes; the last'
	@echo '                line is the sum'
	@echo 'make test-long  the same and those that take longer'
	@echo 'make codegen    local memory, registers and instructions of every device function (needs nvcc)'
	@echo 'make gpu-test   the tests on the GPU, also under compute-sanitizer, in four minutes'
	@echo 'make gpu-test-long  all of these tests, and each under all tools: hours'
	@echo 'make gpu-bench  the measurements on the GPU, to build/results'
	@echo 'make bench      the measurements on the host, to build/results'
	@echo 'make clean      removes build/'

# Why there is no GPU, where there is none.
NO_GPU := $(if $(GPU),,$(if $(NVCC),no GPU here (nvidia-smi -L names none),no CUDA Toolkit here (no nvcc)))

# The programs are built only when something has been said and a first result stands on the screen.
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
	@echo 'The tables of the papers, on this machine, in about $(if $(GPU),five,three) minutes:'
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
# The libraries that they need, where the machine has what these are for.
PYTHON_numpy := build/python/libtriband_cpu.so
PYTHON_torch := build/python/libtriband.so
PYTHON_jax := build/python/libtriband_jax.so
PYTHON_MODULES := $(if $(call has_module,numpy),numpy) \
    $(if $(GPU),$(foreach module,torch jax,$(if $(call has_module,$(module)),$(module))))

# Where the examples in CUDA go: what is built for the emulator must not be taken for a GPU's by another machine that
# shares the folder.
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

# For all instruction sets -O2 takes three times as long as -Og, with which the short run does.
build/cpu_batch: EXAMPLE_LEVEL := $(if $(SHORT_TESTS),-Og)
$(C_EXAMPLES:%=build/%): build/%: examples/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(or $(EXAMPLE_LEVEL),-O2) -I. $(WARNINGS) -o $@ $< -lm

$(TIMED_EXAMPLES:%=build/%) $(THREADED_EXAMPLES:%=build/%): build/%: examples/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(HOST_FAST) -I. $(WARNINGS) -o $@ $< -lm

# The same programs as C: without CUDA they have the host alone.
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

# It measures their kernels.
build/bench/solve: examples/drop_in.cu examples/drop_in_plain.cu

# ---- tests -----------------------------------------------------------------------------------------------------------

# A part is a program and the log of its run, build/log/PART.log. It passes when the program exits with 0 and its counts
# say so; what a log says was skipped is repeated on the screen, and the log of a part that failed, its first lines. No
# file that a part writes grows beyond 256 MiB, and none takes more than two hours of a processor.
#
# "make test" runs each test once in the build that sees most, and is done in five minutes on two slow cores: device
# functions under the watch of the emulator, host functions under the sanitizers; vector code as fast as it goes; nvcc for
# one architecture. SHORT_TESTS in the environment asks the tests for a sample of what takes long; what they leave out
# they name as skipped. "make test-long" runs all of each test, and the rest: samples under the sanitizers on arithmetic
# like a GPU's and under Valgrind, host functions by gcc and clang as users compile them, other compilers, more
# architectures.
# Watched in the long run alone: what test_batch, test_lu, test_adi2d, test_adi3d and trid.h's and pde/fd.h's tests on
# the host see most of.
WATCHED_LATER := $(filter-out test_batch,$(filter test_batch%,$(DEVICE_TESTS))) test_fd test_adi2d_long \
    test_adi2d_models test_adi2d_rungs test_adi3d_others test_adi3d_onchip test_bs3d_gpus test_gpus_march test_bs4d
# Of tests in several programs, with one precision or half of the instances each, the sanitizers and nvcc get one.
ONE_OF_EACH := $(filter-out test_batch_single test_batch_linked test_batch_long_single test_adi3d_others,$(DEVICE_TESTS))
# Run in the long run alone: examples that take long to compile or to run, and the test of one.
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

# Runs the parts and adds up their counts; a part without any was not built, and has failed.
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

# Vectors of 64 bytes need an aligned stack, which the one that gcc 13 keeps for returned functions' variables is not.
# Threads that wait for others must not spin where cores are few and busy: that took 40 seconds of processor time for 2.
HOST_RUN := $(SANITIZED_RUN) OMP_WAIT_POLICY=passive
# All of it takes a quarter of an hour under the sanitizers: fast-test_adi3d_host runs that.
host-test_adi3d_host: HOST_RUN += SHORT_TESTS=1
$(HOST_TESTS:%=host-%): host-%: build/host/%
	$(call run,$(HOST_RUN) $<)

# Threads are for cpu_avx.h alone, whose tests with four instruction sets take minutes to compile under the sanitizers,
# and two and a half times as long with -O1 as with -Og, which runs them as fast.
$(CPU_TESTS:%=build/host/%): build/host/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -I. $(WARNINGS) -g1 -Og $(OPENMP) -o $@ $< -lm

# Of pde/adi2d.h's and pde/adi3d.h's loops, which are inlined into each other, the sanitizers' code takes longest to
# optimise. Their workers are threads.
build/host/test_adi2d_host build/host/test_adi3d_host: HOST_LEVEL := -O0
build/host/test_adi2d_host build/host/test_adi2d_orders build/host/test_adi3d_host: HOST_THREADS := -pthread $(OPENMP)
build/host/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -I. $(WARNINGS) $(or $(HOST_LEVEL),-Og) $(HOST_THREADS) $(SANITIZE) -o $@ $< -lm

# As users compile: the compiler's own C, in which it contracts products and sums, everything inlined and vectorised.
FAST := -std=gnu11 -I. $(WARNINGS) -O3 -march=native
$(PLAIN_TESTS:%=fast-%): fast-%: build/fast/%
	$(call run,$(HOST_RUN) $<)

build/fast/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) $(FAST) $(OPENMP) -o $@ $< -lm

# The same by clang, with the longest vectors that there are.
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

# Of what is undefined clang's sanitizer also sees an offset to a null pointer, which headers that lay out memory might
# make while they count it.
build/undefined/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CLANG) -std=c11 -I. $(WARNINGS) -g1 -O0 -fsanitize=undefined -fsanitize-trap=undefined -pthread -o $@ $< -lm

# A sample: host-TEST runs all of it.
$(CPU_TESTS:%=sanitized-%): sanitized-%: build/sanitized/%
	$(call run,SHORT_TESTS=1 $(HOST_RUN) $<)

build/sanitized/%: tests/%.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -I. $(WARNINGS) -Og $(SANITIZE) $(OPENMP) -o $@ $< -lm

# Valgrind sees what the sanitizers do not, uninitialised numbers above all; it has no AVX-512, which the tests say.
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

# The instruction set of 64-bit Arm, by a compiler for it and an emulator of its processor, which has the libraries of
# the former: a sample of the tests, in less than a minute of a processor each.
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

# Under the sanitizers, a sample of each test, which the watched build runs as a whole. Variables that were never given a
# value hold a pattern instead of what happens to lie there, where the compiler can do that. On arithmetic like a GPU's,
# where the processor has it: products and sums contracted, which takes gcc's expensive optimisations, and a reciprocal
# that is up to a unit in the last place off.
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

# The compiler reports every access to memory to the functions of the thread sanitizer; the emulator supplies them, so
# the program is linked without that sanitizer. An index beyond an array in registers stops the program (exit status
# 132); "make emulated-TEST" tells where.
# Most of the time goes into compiling where a test is many short launches, which -Og halves.
QUICK_TESTS := test_adi2d test_lu test_transpose test_trid
$(QUICK_TESTS:%=build/watched/%): LEVEL := -Og
# Its misaligned vectors are to be seen whole.
build/watched/test_simt: LEVEL := -O1 -fno-tree-sra
build/watched/%: %.cu $(KIT)
	@mkdir -p $(@D)
	$(CXX) $(SIMT) $(or $(LEVEL),-O1) $(WATCHED) -c -o $@.o $<
	$(CXX) -o $@ $@.o

# These tests include others, or what they test.
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

# An example that needs a GPU exits with 3 where there is none; under the emulator each takes less by itself. What is
# timed takes longest to compile, which the long run does.
$(TIMED_EXAMPLES:%=optimised-%): ARGUMENTS := --quick
example-bs4d_host: ARGUMENTS := --size 16
example-locvol_timing example-locvol_timing_host: ARGUMENTS := --quick
# One has barriers of its own, which are watched.
$(foreach program,$(filter-out $(TIMED_EXAMPLES:%=build/%),$(EXAMPLE_PROGRAMS)), \
    $(eval example-$(notdir $(program)): $(program:build/emulated-examples/shared_pcr=build/watched-examples/shared_pcr)))
$(TIMED_EXAMPLES:%=optimised-%): optimised-%: build/%
$(HOST_TOO:%=example-%_host) $(filter-out $(TIMED_EXAMPLES:%=example-%),$(EXAMPLES:%=example-%)) \
    $(TIMED_EXAMPLES:%=optimised-%):
	$(call run,$< $(ARGUMENTS); case $$? in (0) $(call one,1,0,0);; (3) echo 'skipped: $@: no GPU'; $(call one,0,0,1);; \
	    (*) exit 1;; esac)

# The same program by processes with a GPU each, as many as there are.
ifeq ($(MPICXX),)
example-bs3d_gpus_mpi:
	$(call run,echo 'skipped: $@: $(if $(GPU),$(if $(NCCL),no MPI here (no mpicxx),no NCCL here: GPUs copy),$(NO_GPU))'; \
	    $(call one,0,0,1))
else
example-bs3d_gpus_mpi: build/bs3d_gpus_mpi
	$(call run,mpirun -n $(shell nvidia-smi -L | wc -l) $< && $(call one,1,0,0))
endif

# A program in C, with the launches of trid/batch.h from the one file that nvcc compiles: for a minute, and without a
# GPU only in the long run.
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
	$(GFORTRAN) -std=f2003 -O2 $(OPENMP) -Wall $(ERRORS) -J $(@D) -o $@ $^

build/from_fortran/kit.o: examples/from_fortran/kit.c $(KIT)
	@mkdir -p $(@D)
	$(CC) -std=c11 -Og $(OPENMP) -I. $(WARNINGS) -c -o $@ $<

# From Python: by the shared library that each program's first lines say how to make. What is missing the program says
# itself.
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

# What the emulator's compiler says of it, where no GPU will.
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

# Can the faults of tests/faults.txt still be planted? To see which tests kill them is tests/faults.sh's own, long run.
faults-planted:
	$(call run,sh tests/faults.sh -n)

# What get.sh makes can be compiled.
getting:
	$(call run,CC='$(CC)' CXX='$(CXX)' NVCC='$(NVCC)' sh tests/getting.sh)

# What the documents say can be typed.
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

# Most of nvcc's time is optimising, and assembling what it made. The short run compiles the examples without either, but
# for some that have between them the headers' own PTX, and leaves out those whose kernels others have, or most of them.
# The long run compiles examples as users do, for the newest architecture; and as far as PTX the same for the oldest, and
# what has the same kernels in more sizes, tests above all. A machine with a GPU compiles everything for that.
ARCHS = $(shell $(NVCC) --list-gpu-arch | sed -n 's/^compute_//p' | awk '$$1 >= 75' | sort -n)
NEWEST = $(lastword $(ARCHS))
AS_PTX = $(NVCC) -arch=compute_$(1) -Xcicc -O0 $(NVCCFLAGS) -ptx -o $@ $<
AS_OBJECT = $(NVCC) -gencode arch=compute_$(NEWEST),code=sm_$(NEWEST) $(NVCCFLAGS) -c -o $@ $<

ALIKE := %_timing bs4d bs3d_gpus adi3d_heston_hw batch_graph bs1d_dividend bs3d_american adi3d_basket
ASSEMBLED := first_kernel batch transposes bs3d_price
nvcc: $(patsubst %,build/nvcc/%.ptx,$(filter-out $(ALIKE) $(ASSEMBLED),$(CU_EXAMPLES))) $(ASSEMBLED:%=build/nvcc/%.o)
nvcc-all: $(patsubst %,build/nvcc/%.o,$(filter-out $(ALIKE),$(CU_EXAMPLES))) build/from_c \
    $(CU_EXAMPLES:%=build/nvcc/oldest/%.ptx) \
    $(patsubst %,build/nvcc/%.ptx,$(filter $(ALIKE),$(CU_EXAMPLES)) $(filter $(ONE_OF_EACH),$(GPU_TESTS)))
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

TOOLKIT := $(dir $(patsubst %/,%,$(dir $(shell readlink -f $(NVCC)))))
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
# "make gpu-test" is done in four minutes, sixteen processors and one GPU compiling and running; there and in "make test"
# these tests take a sample, since the host, which checks their answers, takes its time. "make gpu-test-long" runs all
# of all tests, and every tool on every test.
BATCHES := $(filter-out test_batch_cluster test_batch_only,$(filter test_batch%,$(GPU_TESTS)))
SAMPLED := test_bs3d $(BATCHES)
$(GPU_PARTS): gpu-%: build/gpu/%
	$(call run,$(if $(filter $(SAMPLED),$*),,env -u SHORT_TESTS) $<)

# Not by nvcc's -split-compile: it gives a kernel too small a stack for functions that other kernels call, too
# (docs/tests.md).
build/gpu/%: tests/%.cu $(KIT)
	@mkdir -p $(@D)
	$(NVCC) -O3 -lineinfo -arch=native $(NVCCFLAGS) -o $@ $<

# What a tool is asked for beside; and the tests that take it too long for "make gpu-test". Of barriers in shared memory
# synccheck takes too few into account (tests/sanitizer/barriers.cu): it is told a number that is enough.
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

# The name of a tool part is TOOL-TEST. A tool makes a test up to a thousand times slower: each takes its sample, and
# no more than half an hour.
define tool_part
$(1)-$(2): build/gpu/$(2)
	$$(call run,$(if $(SANITIZER),SHORT_TESTS=1 timeout 1800 $(SANITIZER) --tool $(1) $(ASKED_$(1)) --error-exitcode 9 $$<, \
	    echo 'skipped: $(1)-$(2): no compute-sanitizer here'; $$(call one,0,0,1)))
endef
$(foreach tool,$(TOOLS),$(foreach test,$(GPU_TESTS),$(eval $(call tool_part,$(tool),$(test)))))

GPU_BENCHES := $(basename $(notdir $(wildcard bench/*.cu)))
# Results go to build/results; those that matter are kept in docs/results.
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
