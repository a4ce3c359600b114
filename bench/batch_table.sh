#!/bin/sh
# batch_table.sh - lists which kernel of trid/batch.h serves which size, by asking its launches.
# MIT licence, see LICENSE.
#
#     sh bench/batch_table.sh n      the table, for n up to 16384; for variants of a call, only the names of the kernels
#                                    that differ
#     sh bench/batch_table.sh --all  all n, and all that is known of each
#
# bench/fill.sh puts the table into docs/batch.md; its commands must have an argument, hence the word n.
# Needs a C++ compiler (CXX names it) and nm, no GPU. Run from the top folder.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Kernels are named, not run: without their bodies they compile in a fifth of the time.
mkdir -p "$work/trid/batch" && cp trid/*.h "$work/trid" && cp *.h "$work"
for room in trid/batch/*.h; do
    awk '/^TRID_KERNEL / { kernel = 1 }
        kernel && /^}/ { kernel = body = 0 }
        !body { print }
        kernel && /^{/ { body = 1 }' "$room" >"$work/$room"
done
"${CXX:-g++}" -std=c++17 -I"$work" -I. -w -x c++ -include tests/simt/simt.h -O0 -no-pie -o "$work/table" bench/batch_table.cc
[ "${1:-}" = --all ] || set --
"$work/table" "$@" trid/batch/*.h
