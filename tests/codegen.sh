#!/bin/sh
# codegen.sh - what the compiler makes of every device function: no local memory, no more registers and no other number
# of instructions than tests/codegen.txt says.
#
#     tests/codegen.sh              compares
#     tests/codegen.sh --update     writes what it found for this nvcc into tests/codegen.txt
#
# Run from the top folder. NVCC and CUOBJDUMP name the tools; without cuobjdump, instructions are skipped.

nvcc=${NVCC:-nvcc}
cuobjdump=${CUOBJDUMP:-$(command -v cuobjdump || ls "$(dirname "$nvcc")/cuobjdump" 2>/dev/null)}
archs='75 80 90 100 120'
record=tests/codegen.txt
work=build/codegen
update=no
[ "$1" = --update ] && update=yes

version=$("$nvcc" --version | sed -n 's/.*release [^,]*, V\(.*\)/\1/p')
supported=$("$nvcc" --list-gpu-arch)
rm -rf $work && mkdir -p $work
passed=0 failed=0 skipped=0

# compile ARCH PRECISION: leaves the listing of ptxas, which fails at the first use of local memory, and the kernels'
# instructions.
compile() {
    stem=$work/sm_$1_$2
    define=
    [ "$2" = f64 ] && define=-DCODEGEN_F64
    "$nvcc" -std=c++17 -I. -cubin -arch=sm_$1 $define -Xptxas -v,-warn-lmem-usage,-Werror \
        -o $stem.cubin tests/codegen.cu >$stem.log 2>&1 || touch $stem.failed
    [ -n "$cuobjdump" ] && [ -f $stem.cubin ] && "$cuobjdump" -sass $stem.cubin >$stem.sass
}

# One line a kernel: architecture, name, registers, bytes of local memory, instructions (without the padding behind the
# last branch, and - where nothing can take the code apart).
summarise() {
    touch $work/sm_$1_$2.sass
    awk -v arch=sm_$1 '
        FILENAME ~ /sass$/ && /Function :/ { name = $3; next }
        FILENAME ~ /sass$/ && /^ *\/\*[0-9a-f]+\*\/ / { if ($2 != "NOP;") instructions[name]++; next }
        /Compiling entry function/ { split($0, part, "\047"); name = part[2]; next }
        /bytes stack frame/ { memory = 0; for (i = 1; i < NF; i++) if ($(i + 1) == "bytes") memory += $i; next }
        /Used [0-9]+ registers/ {
            for (i = 1; i < NF; i++) if ($(i + 1) ~ /^registers/) registers = $i
            print arch, name, registers, memory, name in instructions ? instructions[name] : "-"
        }' $work/sm_$1_$2.sass $work/sm_$1_$2.log
}

for arch in $archs; do
    case " "$(echo $supported)" " in
    *" compute_$arch "*) ;;
    *)
        echo "skipped: this nvcc does not know sm_$arch"
        skipped=$((skipped + 1))
        continue
        ;;
    esac
    compile $arch f32 &
    compile $arch f64
    wait
    for precision in f32 f64; do
        if [ -f $work/sm_${arch}_$precision.failed ]; then
            echo "failed: sm_$arch $precision does not compile without local memory"
            grep -i 'error\|warning' $work/sm_${arch}_$precision.log | cut -c 1-200 | head -n 10
            failed=$((failed + 1))
        fi
        summarise $arch $precision >>$work/found
    done
done

if [ $update = yes ]; then
    [ $failed -eq 0 ] || exit 1
    [ -f $record ] || echo '# Registers/instructions of the kernels of codegen.cu, by codegen.sh --update.' >$record
    {
        awk -v version="$version" '/^nvcc / { own = $2 == version } !own' $record
        awk -v version="$version" '
            !($1 in column) { column[$1] = ++columns; heading = heading " " $1 }
            !($2 in row) { row[$2] = ++rows; names[rows] = $2 }
            { cell[row[$2], column[$1]] = $3 "/" $5 }
            END {
                print "nvcc " version heading
                for (r = rows; r >= 1; r--) { # ptxas goes from the last to the first
                    line = names[r]
                    for (c = 1; c <= columns; c++) line = line " " ((r, c) in cell ? cell[r, c] : "-/-")
                    print line
                }
            }' $work/found
    } >$work/record && mv $work/record $record
fi

# Registers must not be more than recorded; the number of instructions may differ by 2 %, since it may depend on the
# system that the compiler runs on.
awk -v version="$version" -v passed=$passed -v failed=$failed -v skipped=$skipped '
    FNR == NR && /^#/ { next }
    FNR == NR && /^nvcc / { own = $2 == version; for (i = 3; i <= NF; i++) arch[i - 1] = $i; next }
    FNR == NR { if (own) for (i = 2; i <= NF; i++) recorded[arch[i], $1] = $i; next }
    {
        if ($4 == 0) passed++
        else { failed++; print "failed: " $2 " for " $1 " has " $4 " bytes of local memory" }
        if (!(($1, $2) in recorded)) { skipped += 2; unknown++; next }
        split(recorded[$1, $2], want, "/")
        if (want[1] == "-") { skipped++; unknown++ }
        else if ($3 <= want[1] + 0) passed++
        else { failed++; print "failed: " $2 " for " $1 " has " $3 " registers, recorded are " want[1] }
        if (want[2] == "-" || $5 == "-") { skipped++; uncounted++ }
        else if ($5 <= 1.02 * want[2] && $5 >= 0.98 * want[2]) passed++
        else { failed++; print "failed: " $2 " for " $1 " has " $5 " instructions, recorded are " want[2] }
        kernels++
    }
    END {
        if (unknown) print "skipped: nothing is recorded of " unknown " kernels for nvcc " version
        if (uncounted) print "skipped: instructions of " uncounted " kernels: no cuobjdump here, or none recorded"
        if (!passed) failed++
        print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"
        exit failed > 0
    }' $record $work/found
