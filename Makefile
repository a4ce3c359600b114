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
# Threads, where the compiler has them and the library that they need.
OPENMP := $(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo -fopenmp)
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

HEADERS := $(wildcard *.h tests/*.h)
WARNINGS := -Wall -Wextra -Wpedantic -Werror
SANITIZE := -g1 -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANITIZE_SHARED := -fsanitize-sections=simt_shared
SIMT := -std=c++17 -I. -Wall -Wextra -Werror -x c++ -include tests/simt.h
# What programs are timed with, and say of themselves.
GPU_FAST := -O3 -arch=native '-DBENCH_FLAGS="-O3 -arch=native"'
HOST_OPTIMISED := -O3 -march=native $(OPENMP)
HOST_FAST := $(HOST_OPTIMISED) '-DBENCH_FLAGS="$(strip $(HOST_OPTIMISED))"'
NVCCFLAGS := -std=c++17 -I. -Xcompiler -Wall,-Wextra -Werror all-warnings

EXAMPLES := $(sort $(basename $(notdir $(wildcard examples/*.c examples/*.cu))))
HOST_TESTS := $(filter-out test_nvrtc,$(basename $(notdir $(wildcard tests/test_*.c))))
CPU_TESTS := $(filter test_cpu_%,$(HOST_TESTS))
DEVICE_TESTS := $(basename $(notdir $(wildcard tests/test_*.cu)))
# What tests the emulator itself plants faults that no GPU should run.
GPU_TESTS := $(filter-out test_simt,$(DEVICE_TESTS))

.PHONY: help run test examples codegen gpu-test gpu-bench bench clean

help:
	@echo 'make run        the tables of the papers: on the CPU, and on the GPU where there is one'
	@echo 'make test       all tests that this machine can run; the last line is the sum'
	@echo 'make examples   every example, to build/NAME'
	@echo 'make codegen    local memory, registers and instructions of every device function (needs nvcc)'
	@echo 'make gpu-test   the tests on the GPU, also under compute-sanitizer'
	@echo 'make gpu-bench  the measurements on the GPU'
	@echo 'make bench      the measurements on the host'
	@echo 'make clean      removes build/'

ifneq ($(GPU),)
run: build/bs1d_timing build/bs3d_timing build/cpu_timing
	@mkdir -p build/results
	build/bs1d_timing --csv build/results/bs1d_timing.csv
	build/bs3d_timing --csv build/results/bs3d_timing.csv
	build/cpu_timing --gpu1 build/results/bs1d_timing.csv --gpu3 build/results/bs3d_timing.csv
else
run: build/cpu_timing
	build/cpu_timing
endif

clean:
	rm -rf build

# ---- examples --------------------------------------------------------------------------------------------------------

examples: $(EXAMPLES:%=build/%)

TIMED_EXAMPLES := cpu_timing
C_EXAMPLES := $(filter-out $(TIMED_EXAMPLES),$(basename $(notdir $(wildcard examples/*.c))))
CU_EXAMPLES := $(basename $(notdir $(wildcard examples/*.cu)))

$(C_EXAMPLES:%=build/%): build/%: examples/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -I. $(WARNINGS) -o $@ $< -lm

$(TIMED_EXAMPLES:%=build/%): build/%: examples/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(HOST_FAST) -I. $(WARNINGS) -o $@ $< -lm

ifneq ($(GPU),)
$(CU_EXAMPLES:%=build/%): build/%: examples/%.cu $(HEADERS)
	@mkdir -p $(@D)
	$(NVCC) $(GPU_FAST) $(NVCCFLAGS) -o $@ $<
else
$(CU_EXAMPLES:%=build/%): build/%: build/emulated/%.cc $(HEADERS)
	$(CXX) -O2 $(SIMT) -o $@ $<
endif

# Without a GPU, kernel<<<grid, block, bytes, stream>>>(...) becomes LAUNCH(kernel, grid, block, bytes, stream)(...);
# the two zeros stand for bytes and stream where the source leaves them out, and fall off the end where it does not. A
# launch stands on one line, and says which instance of a template it launches: kernel<float><<<...>>>.
build/emulated/%.cc: examples/%.cu Makefile
	@mkdir -p $(@D)
	@{ echo '#define LAUNCH(kernel, grid, block, bytes, stream, ...) SIMT_LAUNCH(kernel, grid, block, bytes, stream)'; \
	   echo '#line 1 "$<"'; \
	   sed 's/\([A-Za-z_0-9]*\(<[^<>]*>\)\{0,1\}\)<<<\(.*\)>>>/LAUNCH((\1), \3, 0, 0, )/' $<; } >$@

# ---- tests -----------------------------------------------------------------------------------------------------------

# A part is a program and the log of its run, build/log/PART.log. It passes when the program exits with 0 and its counts
# say so; what a log says was skipped is repeated on the screen, and the whole log of a part that failed.
PARTS := $(DEVICE_TESTS:%=watched-%) $(DEVICE_TESTS:%=emulated-%) nvcc $(HOST_TESTS:%=host-%) \
    $(CPU_TESTS:%=valgrind-%) headers $(EXAMPLES:%=example-%) nvrtc text
GPU_PARTS := $(GPU_TESTS:%=gpu-%)
TOOLS := memcheck racecheck synccheck initcheck
TOOL_PARTS := $(foreach tool,$(TOOLS),$(GPU_TESTS:%=$(tool)-%))

define run
@mkdir -p build/log; { $(1); } >build/log/$@.log 2>&1; \
awk -v part=$@ -v status=$$? -v count=build/log/$@.count '$(summary)' build/log/$@.log
endef
define summary
/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$$/ { passed += $$1; failed += $$3; skipped += $$5; counted = 1; next } \
/^skipped: / { print part ": " $$0 } \
{ log_text = log_text "    " $$0 "\n" } \
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

.PHONY: $(PARTS) gpu $(GPU_PARTS) $(TOOL_PARTS)

test:
	$(call all_parts,$(PARTS) $(if $(GPU),$(GPU_PARTS),gpu))

# Vectors of 64 bytes need an aligned stack, which the one that gcc 13 keeps for returned functions' variables is not.
$(HOST_TESTS:%=host-%): host-%: build/host/%
	$(call run,ASAN_OPTIONS=detect_stack_use_after_return=0 $<)

# Threads are for cpu_avx.h alone.
build/host/test_cpu_%: THREADS := $(OPENMP)
build/host/%: tests/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=c11 -I. $(WARNINGS) $(SANITIZE) $(THREADS) -o $@ $< -lm

# Valgrind sees what the sanitizers do not, uninitialised numbers above all; it has no AVX-512, which the tests say.
ifeq ($(VALGRIND),)
$(CPU_TESTS:%=valgrind-%):
	$(call run,echo 'skipped: $@: no valgrind here'; $(call one,0,0,1))
else
$(CPU_TESTS:%=valgrind-%): valgrind-%: build/valgrind/%
	$(call run,SHORT_TESTS=1 $(VALGRIND) -q --error-exitcode=9 $<)
endif

build/valgrind/%: tests/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=c11 -I. $(WARNINGS) -g1 -O1 -o $@ $< -lm

$(DEVICE_TESTS:%=emulated-%): emulated-%: build/emulated/%
	$(call run,$<)

build/emulated/%: tests/%.cu $(HEADERS)
	@mkdir -p $(@D)
	$(CXX) $(SIMT) $(SANITIZE) $(SANITIZE_SHARED) -o $@ $<

$(DEVICE_TESTS:%=watched-%): watched-%: build/watched/%
	$(call run,$<)

# The compiler reports every access to memory to the functions of the thread sanitizer; the emulator supplies them, so
# the program is linked without that sanitizer.
build/watched/%: tests/%.cu $(HEADERS)
	@mkdir -p $(@D)
	$(CXX) $(SIMT) -g1 -O1 -fsanitize=thread -c -o $@.o $<
	$(CXX) -o $@ $@.o

# An example that needs a GPU exits with 3 where there is none.
example-cpu_timing: ARGUMENTS := --quick
$(EXAMPLES:%=example-%): example-%: build/%
	$(call run,$< $(ARGUMENTS); case $$? in (0) $(call one,1,0,0);; (3) echo 'skipped: $@: no GPU'; $(call one,0,0,1);; \
	    (*) exit 1;; esac)

headers:
	$(call run,CC='$(CC)' CXX='$(CXX)' sh tests/headers.sh)

text:
	$(call run,sh tests/text.sh)

# ---- with the CUDA Toolkit -------------------------------------------------------------------------------------------

ifeq ($(NVCC),)
nvcc nvrtc:
	$(call run,echo 'skipped: $@: no CUDA Toolkit here'; $(call one,0,0,1))
codegen:
	@echo 'codegen: no nvcc here'; $(call one,0,0,1)
else
codegen:
	NVCC='$(NVCC)' sh tests/codegen.sh

# Every architecture from sm_75 on for the examples, which are short; the oldest and the newest for the tests; the newest
# alone for the examples that hold all kernels of a ladder, since that ladder's test holds them too.
ARCHS = $(shell $(NVCC) --list-gpu-arch | sed -n 's/^compute_//p' | awk '$$1 >= 75' | sort -n)
GENCODE = -gencode arch=compute_$(1),code=sm_$(1)
LONG_EXAMPLES := $(basename $(notdir $(shell grep -L 'BS[13]D_NO_LAUNCHES' $$(grep -l '"bs[13]d.h"' examples/*.cu))))
SHORT_EXAMPLES := $(filter-out $(LONG_EXAMPLES),$(CU_EXAMPLES))
NVCC_OBJECTS := $(CU_EXAMPLES:%=build/nvcc/%.o) $(GPU_TESTS:%=build/nvcc/%.o)

nvcc: $(NVCC_OBJECTS)
	$(call run,$(call one,$(words $^),0,0))

$(SHORT_EXAMPLES:%=build/nvcc/%.o): build/nvcc/%.o: examples/%.cu $(HEADERS)
	@mkdir -p $(@D)
	$(NVCC) $(foreach arch,$(ARCHS),$(call GENCODE,$(arch))) $(NVCCFLAGS) -c -o $@ $<

$(LONG_EXAMPLES:%=build/nvcc/%.o): build/nvcc/%.o: examples/%.cu $(HEADERS)
	@mkdir -p $(@D)
	$(NVCC) $(call GENCODE,$(lastword $(ARCHS))) $(NVCCFLAGS) -c -o $@ $<

$(GPU_TESTS:%=build/nvcc/%.o): build/nvcc/%.o: tests/%.cu $(HEADERS)
	@mkdir -p $(@D)
	$(NVCC) $(foreach arch,$(firstword $(ARCHS)) $(lastword $(ARCHS)),$(call GENCODE,$(arch))) $(NVCCFLAGS) -c -o $@ $<

TOOLKIT := $(dir $(patsubst %/,%,$(dir $(shell readlink -f $(NVCC)))))
NVRTC := $(firstword $(wildcard $(TOOLKIT)lib64/libnvrtc.so $(TOOLKIT)targets/*/lib/libnvrtc.so))
ifeq ($(NVRTC),)
nvrtc:
	$(call run,echo 'skipped: the toolkit has no NVRTC'; $(call one,0,0,1))
else
nvrtc: build/host/test_nvrtc
	$(call run,$<)

build/host/test_nvrtc: tests/test_nvrtc.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O1 -I. -isystem $(TOOLKIT)include $(WARNINGS) -o $@ $< $(NVRTC) -Wl,-rpath,$(dir $(NVRTC))
endif
endif

# ---- with a GPU ------------------------------------------------------------------------------------------------------

ifeq ($(GPU),)
gpu:
	$(call run,$(foreach part,$(GPU_PARTS),echo 'skipped: $(part): no GPU or no nvcc here';) \
	    $(call one,0,0,$(words $(GPU_PARTS))))
gpu-test gpu-bench:
	@echo '$@: no GPU or no nvcc here'; $(call one,0,0,1)
else
$(GPU_PARTS): gpu-%: build/gpu/%
	$(call run,$<)

build/gpu/%: tests/%.cu $(HEADERS)
	@mkdir -p $(@D)
	$(NVCC) -O3 -lineinfo -arch=native $(NVCCFLAGS) -o $@ $<

gpu-test:
	$(call all_parts,$(GPU_PARTS) $(TOOL_PARTS))

# The name of a tool part is TOOL-TEST.
define tool_part
$(1): build/gpu/$(2)
	$$(call run,$$(if $(SANITIZER),SHORT_TESTS=1 $(SANITIZER) --tool $(3) --error-exitcode 9 $$<,\
	    echo 'skipped: $(1): no compute-sanitizer here'; $$(call one,0,0,1)))
endef
$(foreach tool,$(TOOLS),$(foreach test,$(GPU_TESTS),$(eval $(call tool_part,$(tool)-$(test),$(test),$(tool)))))

GPU_BENCHES := $(basename $(notdir $(wildcard bench/*.cu)))
# Results go to build/results; those that matter are kept in docs/results.
gpu-bench: $(GPU_BENCHES:%=build/bench/%) build/bs1d_timing build/bs3d_timing build/batch
	@mkdir -p build/results
	@for bench in $(filter-out build/bs3d_timing build/batch,$^); do \
	    echo "$$bench"; $$bench --csv build/results/$${bench##*/}.csv || exit 1; done
	build/bs3d_timing --large --csv build/results/bs3d_timing.csv
	build/batch >build/results/batch.txt
	sh bench/conflicts.sh build/bench/transpose >build/results/conflicts.txt

$(GPU_BENCHES:%=build/bench/%): build/bench/%: bench/%.cu $(HEADERS)
	@mkdir -p $(@D)
	$(NVCC) $(GPU_FAST) $(NVCCFLAGS) -o $@ $< -lcusparse
endif

HOST_BENCHES := $(basename $(notdir $(wildcard bench/*.c)))
bench: $(HOST_BENCHES:%=build/bench/%) build/cpu_timing
	@mkdir -p build/results
	@for bench in $^; do \
	    echo "$$bench"; $$bench --csv build/results/$${bench##*/}.csv || exit 1; done

$(HOST_BENCHES:%=build/bench/%): build/bench/%: bench/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(HOST_FAST) -I. $(WARNINGS) -o $@ $< -lm
