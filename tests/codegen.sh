#!/bin/sh
# codegen.sh - checks the machine code of every device function of trid.h and transpose.h, and of every kernel of
# bs1d.h, bs3d.h and trid/batch.h. It may have no more registers than tests/codegen.txt says, and the same number of
# instructions to within 2 %. The functions, the kernels of the README's tables and, for sm_90, those of trid/batch.h's
# plain solves may have no local memory; other kernels no more than that file says.
#
#     tests/codegen.sh              compares
#     tests/codegen.sh --update     writes what it finds with this nvcc into tests/codegen.txt
#
# Run from the top folder. NVCC and CUOBJDUMP name the tools; without cuobjdump, instructions are not counted.

nvcc=${NVCC:-nvcc}
cuobjdump=${CUOBJDUMP:-$(command -v cuobjdump || ls "$(dirname "$nvcc")/cuobjdump" 2>/dev/null)}
archs='75 80 90 100 120'
ladder_archs='80 90 100' # two minutes each and precision
record=tests/codegen.txt
work=build/codegen
update=no
[ "$1" = --update ] && update=yes

# compile ARCH PRECISION SOURCE FLAGS: writes the listing of ptxas and the kernels' instructions to files
compile() {
    stem=$work/$3_sm_$1_$2
    define=
    [ "$2" = f64 ] && define=-DCODEGEN_F64
    "$nvcc" -std=c++17 -I. -cubin -arch=sm_$1 $define -Xptxas $4 -o $stem.cubin tests/$3.cu >$stem.log 2>&1 ||
        touch $stem.failed
    [ -n "$cuobjdump" ] && [ -f $stem.cubin ] && "$cuobjdump" -sass $stem.cubin >$stem.sass
    return 0
}
if [ "$1" = --compile ]; then # one of the jobs below
    shift
    compile "$@"
    exit
fi

version=$("$nvcc" --version | sed -n 's/.*release [^,]*, V\(.*\)/\1/p')
supported=$("$nvcc" --list-gpu-arch)
rm -rf $work && mkdir -p $work
passed=0 failed=0 skipped=0

# One line a kernel: architecture, name, registers, bytes of local memory (the sum of stack, spill stores and spill
# loads), instructions (without the padding behind the last branch, and - without cuobjdump). A template's name is given
# without its types, and the namespace of its precision becomes a suffix.
summarise() {
    stem=$work/$3_sm_$1_$2
    touch $stem.sass
    awk -v arch=sm_$1 '
        FILENAME ~ /sass$/ && /Function :/ { name = $3; next }
        FILENAME ~ /sass$/ && /^ *\/\*[0-9a-f]+\*\/ / { if ($2 != "NOP;") instructions[name]++; next }
        /Compiling entry function/ { split($0, part, "\047"); name = part[2]; next }
        /bytes stack frame/ { memory = 0; for (i = 1; i < NF; i++) if ($(i + 1) == "bytes") memory += $i; next }
        /Used [0-9]+ registers/ {
            for (i = 1; i < NF; i++) if ($(i + 1) ~ /^registers/) registers = $i
            print arch "\t" name "\t" registers "\t" memory "\t" (name in instructions ? instructions[name] : "-")
        }' $stem.sass $stem.log | c++filt | sed -E 's/tb_(f32|f64)::([a-z0-9_]+)/\2_\1/g' |
        awk -F '\t' '{ sub(/^void /, "", $2); sub(/\(.*/, "", $2); gsub(/ /, "", $2); print $1, $2, $3, $4, $5 }'
}

# The jobs, the long ones first, as many at a time as there are processors.
: >$work/jobs
for arch in $archs; do
    case " "$(echo $supported)" " in
    *" compute_$arch "*) ;;
    *)
        echo "skipped: this nvcc does not know sm_$arch"
        skipped=$((skipped + 1))
        continue
        ;;
    esac
    for precision in f32 f64; do
        echo $arch $precision codegen -v,-warn-lmem-usage,-Werror >>$work/jobs
        case " $ladder_archs " in
        *" $arch "*) echo $arch $precision codegen_ladders -v >>$work/jobs ;;
        esac
    done
done
sort -r -k 3,3 $work/jobs | NVCC=$nvcc CUOBJDUMP=$cuobjdump \
    xargs -n 4 -P "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" sh tests/codegen.sh --compile

: >$work/found
while read -r arch precision source flags; do
    if [ -f $work/${source}_sm_${arch}_$precision.failed ]; then
        echo "failed: $source.cu for sm_$arch in $precision does not compile, or not without local memory"
        grep -i 'error\|warning' $work/${source}_sm_${arch}_$precision.log | cut -c 1-200 | head -n 10
        failed=$((failed + 1))
    fi
    summarise $arch $precision $source >>$work/found
done <$work/jobs

if [ $update = yes ]; then
    [ $failed -eq 0 ] || exit 1
    touch $record
    {
        echo '# Registers/instructions of the kernels of codegen.cu and codegen_ladders.cu, with /bytes of local memory'
        echo '# (stack, spill stores and spill loads, added) where there are any, by codegen.sh --update.'
        awk -v version="$version" '/^#/ { next } /^nvcc / { own = $2 == version } !own' $record
        awk -v version="$version" '
            !($1 in column) { column[$1] = ++columns; heading = heading " " $1 }
            !($2 in row) { row[$2] = ++rows; names[rows] = $2 }
            { cell[row[$2], column[$1]] = $3 "/" $5 ($4 ? "/" $4 : "") }
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

# Registers and local memory must not be more than recorded; the number of instructions may differ by 2 %, since it may
# depend on the system that the compiler runs on.
awk -v version="$version" -v passed=$passed -v failed=$failed -v skipped=$skipped '
    FNR == NR && /^#/ { next }
    FNR == NR && /^nvcc / { own = $2 == version; for (i = 3; i <= NF; i++) arch[i - 1] = $i; next }
    FNR == NR { if (own) for (i = 2; i <= NF; i++) recorded[arch[i], $1] = $i; next }

    # Is this one of the kernels that must have no local memory? All device functions are, and these kernels of the
    # ladders, which README.md times: in bs1d.h implicit1 and 4 with 256 points; in bs3d.h those of up to 512 points
    # with positive correlations (form 0), in single precision; in trid/batch.h, for the architecture that the README
    # times, those that solve plainly or from factors in one reading, interleaved from aligned arrays (up to 16 bytes
    # are allowed), and periodic ones. In the others a set-up may spill, or more warps were worth some bytes:
    # docs/bs1d.md, bs3d.md and batch_notes.md say where.
    function must_stay_in_registers(name, part) {
        if (name !~ /^(trid_p_batch|bs1d|bs3d)_/) return 1
        if (name ~ /^trid_p_batch_/)
            return $1 == "sm_90" && $4 > 16 && name !~ /lu_rows<[a-z]*,[01],1>/ &&
                   name ~ /^trid_p_batch_(contiguous<[a-z]*,(1|768),|interleaved<[a-z]*,1,trid_p_batch_shape<[0-9,]*,[0-2],1>,trid_p)/
        if (name !~ /_f32/) return 0
        split(name, part, /[<,>]/)
        if (name ~ /^bs3d_/) return name ~ /implicit|_sweep_f32<0,1,1>/ && name !~ /<32[,>]|up_f32<1[,>]/
        return name ~ /_implicit_/ && (part[2] == 1 || part[2] == 4) && part[3] == 0 && part[4] * part[5] == 256
    }
    {
        known = ($1, $2) in recorded
        split(known ? recorded[$1, $2] : "-/-", want, "/")
        if ($4 == 0) passed++
        else if (must_stay_in_registers($2)) {
            failed++
            print "failed: " $2 " for " $1 " has " $4 " bytes of local memory"
        } else if (!known) { skipped++; unknown_memory++ }
        else if ($4 <= want[3] + 0) passed++
        else {
            failed++
            print "failed: " $2 " for " $1 " has " $4 " bytes of local memory, recorded are " want[3] + 0
        }
        if (!known) { skipped += 2; unknown++; next }
        if (want[1] == "-") { skipped++; unknown++ }
        else if ($3 <= want[1] + 0) passed++
        else { failed++; print "failed: " $2 " for " $1 " has " $3 " registers, recorded are " want[1] }
        if (want[2] == "-" || $5 == "-") { skipped++; uncounted++ }
        else if ($5 <= 1.02 * want[2] && $5 >= 0.98 * want[2]) passed++
        else { failed++; print "failed: " $2 " for " $1 " has " $5 " instructions, recorded are " want[2] }
    }
    END {
        if (unknown) print "skipped: nothing is recorded of " unknown " kernels for nvcc " version
        if (unknown_memory) print "skipped: " unknown_memory " of them have local memory, as they may"
        if (uncounted) print "skipped: instructions of " uncounted " kernels: no cuobjdump here, or none recorded"
        if (!passed) failed++
        print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"
        exit failed > 0
    }' $record $work/found
