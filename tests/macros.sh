# macros.sh - writes macros of a program that includes the kit, for headers.sh and costs.sh: macros.h has those of a
# user, names.h defines the kit's names as macros, and names_still.h checks that these are still defined. Both scripts
# . it after check.sh, in $work.

# The names that a program is most likely to use itself, and those of Windows; the macro with an argument drops it.
cat >macros.h <<'END'
#define REAL quad
#define C "c"
#define F(x) unusable
#define I 1.0fi
#define K 8
#define L 16L
#define N 256
#define P 2
#define S "s"
#define U unsigned
#define W 32
#define R
#define small char
#define near
#define far
END

# All other names in capitals in the headers, which a program may use for macros of its own. Not among them are names
# that begin with the stem of a header, which are the kit's, SIMT_ (the emulator's), CUDART_ (CUDA's), and what the
# headers' own #includes define. Names in small letters are not tried: as with any library, a program must undefine a
# macro of such a name before the #include.
sed 's/^#define \([A-Z]*\).*/\1/' macros.h >taken
stems=$(kit_headers | sed 's|.*/||; s/\.h$//' | tr a-z A-Z | tr '\n' '|')TB
rm -rf kit && copy_kit kit
grep -rh '^ *# *include <' kit | sort -u >included.h
for compiler in "$CC -x c" "$CXX -x c++"; do
    for line in $(grep -o '<.*>' included.h); do
        echo "#include $line" | $compiler -dM -E - 2>/dev/null
    done
done | sed 's/^#define \([A-Za-z0-9_]*\).*/\1/' | sort -u >language
for path in $(find kit -name '*.h'); do
    $CC -fpreprocessed -dD -E -P -x c "$path" 2>/dev/null
done | sed "s/\"[^\"]*\"//g; s/'[^']*'//g; /^ *# *include/d" | grep -oE '[A-Za-z_][A-Za-z0-9_]*' |
    grep -x '[A-Z][A-Z0-9_]*' | grep -vE "^($stems|SIMT|CUDART)(_|$)" | sort -u |
    grep -vxFf language | grep -vxFf taken >names
sed 's/.*/#define & 7 seven/' names >names.h
sed 's/.*/#ifndef &\n#error & is gone\n#endif/' names >names_still.h
check 'there are names to try' test -s names
