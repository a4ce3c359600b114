#!/bin/sh
# get.sh - copies or installs headers of the kit, with all that they include.
# MIT licence, see LICENSE.
#
#     sh get.sh list HEADER...            the files that these headers need, one a line
#     sh get.sh copy FOLDER HEADER...     copies them to FOLDER
#     sh get.sh single FOLDER HEADER      writes them as one file, FOLDER/pde_adi3d.h for pde/adi3d.h
#     sh get.sh install PREFIX            installs all headers, for pkg-config and CMake, in $DESTDIR/PREFIX if the
#                                         environment sets DESTDIR
#
# HEADER is a path in the kit, such as trid/batch.h. What a header needs is read from its lines: #include "FILE", and
# #define TB_BODY "FILE", which names a file that is read twice (trid/twice.h).

usage() {
    sed -n '5,9s/^# \{0,4\}//p' "$0" >&2
    exit 2
}

here=$(cd "$(dirname "$0")" && pwd) || exit
version=$(sed -n 's/^#define TRID_VERSION \([0-9]*\)\([0-9][0-9]\) .*/\1.\2/p' "$here/trid.h" | sed 's/\.0\(.\)$/.\1/')

# What `list` and `single` share: the file that a line names, and all files that a header needs.
lines='
function named(line) { return match(line, /"[^"]*"/) ? substr(line, RSTART + 1, RLENGTH - 2) : "" }
function path_of(folder, name) {
    name = folder name
    while (sub(/[^\/]+\/\.\.\//, "", name)) {}
    return name
}
function folder_of(file) { return match(file, /.*\//) ? substr(file, 1, RLENGTH) : "" }
function needs(file, line) { # the file that this line of a file names, or nothing
    if (line ~ /^#include "/) return path_of(folder_of(file), named(line))
    if (line !~ /^#define TB_BODY "/) return ""
    return named(line) == file ? file : path_of("trid/", named(line)) # trid.h, transpose.h; as trid/twice.h finds it
}
function visit(file,    line, path, status) {
    if (file in seen) return
    seen[file] = ++files
    order[files] = file
    while ((status = getline line < file) > 0) {
        path = needs(file, line)
        if (path != "" && path != file) later[file, ++count[file]] = path
    }
    if (status < 0) { print "get.sh: there is no " file > "/dev/stderr"; exit 1 }
    close(file)
    for (line = 1; line <= count[file]; line++) visit(later[file, line])
}'

list() { # list HEADER...
    (cd "$here" && awk "$lines"'
        BEGIN {
            for (i = 1; i < ARGC; i++) visit(ARGV[i])
            for (i = 1; i <= files; i++) print order[i]
            exit
        }' "$@")
}

copy() { # copy FOLDER HEADER...
    folder=$1
    shift
    list "$@" >"$work/list" || exit
    while read -r file; do
        mkdir -p "$folder/$(dirname "$file")" && cp "$here/$file" "$folder/$file" || exit
    done <"$work/list"
    cp "$here/LICENSE" "$folder/LICENSE.triband"
}

# Writes one file that includes itself, since a room is read once for each precision, instruction set or model. Each of
# the kit's files becomes a branch with a number. An #include becomes a #define of that number and an #include of the
# single file.
single() { # single FOLDER HEADER
    name=$(echo "$2" | tr / _)
    mkdir -p "$1" || exit
    (cd "$here" && awk -v name="$name" -v version="$version" "$lines"'
        function read(number) { print "#undef TB_ROOM\n#define TB_ROOM " number "\n#include \"" name "\"" }
        BEGIN {
            visit(ARGV[1])
            print "/* " name " - " ARGV[1] " of Triband " version " and the files that it includes, in one: made by get.sh."
            print "   It must keep its name, by which it includes itself: each file is a branch below, read when TB_ROOM is"
            print "   its number.\n"
            while ((getline line < "LICENSE") > 0) print line == "" ? line : "   " line
            print "*/\n\n#ifndef TB_ROOM"
            read(1)
            print "#undef TB_ROOM"
            for (i = 1; i <= files; i++) {
                print "\n#elif TB_ROOM == " i " /* ---- " order[i] " ---- */\n"
                while ((getline line < order[i]) > 0) {
                    path = needs(order[i], line)
                    if (line ~ /^#define/ && path != "") print "#define TB_BODY " seen[path]
                    else if (path != "") read(seen[path])
                    else if (line ~ /^#include TB_BODY/) read("TB_BODY")
                    else print line
                }
            }
            print "\n#endif /* TB_ROOM */"
            exit
        }' "$2") >"$work/single" && cp "$work/single" "$1/$name"
}

install() { # install PREFIX
    prefix=${DESTDIR:-}$1
    (cd "$here" && ls *.h trid/*.h pde/*.h) >"$work/public" || exit
    copy "$prefix/include/triband" $(cat "$work/public") || exit
    mkdir -p "$prefix/share/pkgconfig" "$prefix/share/cmake/triband" || exit
    # pkg-config and CMake find the headers relative to these files, so that PREFIX may be moved.
    cat >"$prefix/share/pkgconfig/triband.pc" <<END || exit
includedir=\${pcfiledir}/../../include/triband

Name: triband
Description: tridiagonal systems and finite-difference pricers for CUDA and C, headers only
Version: $version
Cflags: -I\${includedir}
END
    cat >"$prefix/share/cmake/triband/triband-config.cmake" <<'END' || exit
if(NOT TARGET triband::triband)
    get_filename_component(triband_include "${CMAKE_CURRENT_LIST_DIR}/../../../include/triband" ABSOLUTE)
    add_library(triband::triband INTERFACE IMPORTED)
    set_target_properties(triband::triband PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${triband_include}")
endif()
END
    cat >"$prefix/share/cmake/triband/triband-config-version.cmake" <<END || exit
set(PACKAGE_VERSION $version)
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION AND PACKAGE_FIND_VERSION_MAJOR EQUAL ${version%.*})
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
END
}

work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

command=${1:-}
[ -n "${2:-}" ] || usage
shift
case $command in
list) list "$@" ;;
copy)
    [ $# -ge 2 ] || usage
    copy "$@" || exit
    echo "$1: $(wc -l <"$work/list") headers and their licence; programs elsewhere need -I$1:"
    fmt -w 100 "$work/list" | sed 's/^/    /'
    ;;
single)
    [ $# -eq 2 ] || usage
    single "$@" && echo "$1/$name: $(grep -c '^#elif TB_ROOM' "$1/$name") files in one"
    ;;
install)
    [ $# -eq 1 ] || usage
    install "$1"
    echo "$prefix: include/triband, share/pkgconfig/triband.pc, share/cmake/triband"
    ;;
*) usage ;;
esac
