/* test_banks.c - counts the bank conflicts of transpose.h and of trid/interleaved.h, exactly, on the host.
   MIT licence, see LICENSE.

   The model: 32 banks of four bytes. A warp's access to words of four bytes is served at once, one to words of eight
   bytes in two halves of 16 lanes. If two lanes that are served together want different words of one bank, one waits.
   In words of the element's size, that is 32 banks for 32 lanes, or 16 banks for 16. */
#include "transpose.h"
#include "trid/interleaved.h"

#include "check.h"

enum { MAX_WORDS = 4096 };

/* Returns the cycles that an access takes beyond one for each group served: a bank serves one word a cycle, to any
   number of lanes. slot < 0 is a lane that does nothing. */
static int conflicts(int banks, const int slot[32])
{
    int extra = 0;
    for (int first = 0; first < 32; first += banks) {
        int words[32] = {0}, most = 1;
        for (int l = first; l < first + banks; l++) {
            int fresh = slot[l] >= 0;
            for (int m = first; m < l; m++) fresh = fresh && slot[m] != slot[l];
            if (fresh && ++words[slot[l] % banks] > most) most = words[slot[l] % banks];
        }
        extra += most - 1;
    }
    return extra;
}

typedef int transpose_map(int banks, int I, int i, int j);

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int naive(int banks, int I, int i, int j)
{
    (void)banks;
    return i + j * I;
}

/* Returns the conflicts of all accesses along the rows (t = 32 r + lane) and along the columns of a width. */
static int conflicts_of_map(transpose_map *map, int I, int banks)
{
    int count = 0;
    for (int access = 0; access < I; access++) {
        int along_rows[32], along_columns[32];
        for (int lane = 0; lane < 32; lane++) {
            int t = 32 * access + lane;
            along_rows[lane] = map(banks, I, t % I, t / I);
            along_columns[lane] = map(banks, I, access, lane);
        }
        count += conflicts(banks, along_rows) + conflicts(banks, along_columns);
    }
    return count;
}

static void test_transpose(const char *name, int banks, int I, int length)
{
    static int uses[MAX_WORDS];
    int outside = 0, shared = 0, row_differs = 0, column_differs = 0, largest = 0;
    memset(uses, 0, sizeof uses);
    for (int j = 0; j < 32; j++)
        for (int i = 0; i < I; i++) {
            int k = transpose_index(banks, I, i, j), t = i + j * I;
            outside += k < 0 || k >= length;
            shared += k >= 0 && k < MAX_WORDS && uses[k]++ > 0;
            row_differs += transpose_row_slot(banks, I, t / 32, t % 32) != k;
            column_differs += transpose_column_slot(banks, I, j) + i != k;
            largest = larger(largest, k);
        }
    CHECK(outside == 0, "%s, I = %d: %d of the slots are beyond %d elements", name, I, outside, length);
    CHECK(largest == length - 1, "%s, I = %d: the last slot is %d of %d elements", name, I, largest, length);
    CHECK(shared == 0, "%s, I = %d: %d elements share a slot", name, I, shared);
    CHECK(row_differs == 0, "%s, I = %d: %d row slots differ from the map", name, I, row_differs);
    CHECK(column_differs == 0, "%s, I = %d: %d column slots differ from the map", name, I, column_differs);

    int count = conflicts_of_map(transpose_index, I, banks);
    CHECK(count == 0, "%s, I = %d: %d bank conflicts", name, I, count);
    /* Without padding, even widths conflict and odd ones do not: so the count above does find conflicts. */
    int plain = conflicts_of_map(naive, I, banks);
    CHECK((plain > 0) == (I % 2 == 0), "%s, I = %d: %d bank conflicts without padding", name, I, plain);
}

/* Counts the conflicts of L lines of S partitions. Thread t < L*S writes at the slot of t. Then, as partition t % S of
   line t / S, it reads at the slot of t / S + L * (t % S), and L further on for the partition below. Below a line's
   last partition and above its first, the direct form reads nothing and the factored form reads its own slot. */
static void test_lines(const char *name, int banks, int L, int S, int length, int solve_length)
{
    static int uses[MAX_WORDS];
    int outside = 0, shared = 0, write = 0, read = 0, below = 0, left = 0, plain = 0;
    int solve_below = 0, solve_left = 0;
    int part = TRID_INTERLEAVED_SLOT(L, S, banks, L * S);
    memset(uses, 0, sizeof uses);
    for (int t = 0; t < L * S; t++) {
        int k = TRID_INTERLEAVED_SLOT(L, S, banks, t);
        outside += k < 0 || k >= part;
        shared += k >= 0 && k < MAX_WORDS && uses[k]++ > 0;
    }
    for (int warp = 0; warp < L * S; warp += 32) {
        int written[32], own[32], next[32], previous[32], unpadded[32], solve_next[32], solve_previous[32];
        for (int lane = 0; lane < 32; lane++) {
            int t = warp + lane, rank = t % S;
            unpadded[lane] = t / S + L * rank;
            written[lane] = TRID_INTERLEAVED_SLOT(L, S, banks, t);
            own[lane] = TRID_INTERLEAVED_SLOT(L, S, banks, unpadded[lane]);
            next[lane] = rank + 1 < S ? TRID_INTERLEAVED_SLOT(L, S, banks, unpadded[lane] + L) : -1;
            previous[lane] = t >= L ? TRID_INTERLEAVED_SLOT(L, S, banks, t - L) : -1;
            solve_next[lane] = rank + 1 < S ? next[lane] : own[lane];
            solve_previous[lane] = t >= L ? previous[lane] : written[lane];
        }
        write += conflicts(banks, written);
        read += conflicts(banks, own);
        below = larger(below, conflicts(banks, next));
        left = larger(left, conflicts(banks, previous));
        solve_below = larger(solve_below, conflicts(banks, solve_next));
        solve_left = larger(solve_left, conflicts(banks, solve_previous));
        plain += conflicts(banks, unpadded);
    }
    CHECK(6 * part <= length, "%s, L = %d, S = %d: six arrays of %d in %d elements", name, L, S, part, length);
    CHECK(3 * part == solve_length, "%s, L = %d, S = %d: three arrays of %d in %d elements", name, L, S, part,
          solve_length);
    CHECK(outside == 0, "%s, L = %d, S = %d: %d slots are outside their array", name, L, S, outside);
    CHECK(shared == 0, "%s, L = %d, S = %d: %d rows share a slot", name, L, S, shared);
    CHECK(write == 0, "%s, L = %d, S = %d: %d bank conflicts in writing", name, L, S, write);
    CHECK(read == 0, "%s, L = %d, S = %d: %d bank conflicts in reading", name, L, S, read);
    /* One line's 32 partitions, shifted by one, straddle the padding in each half: one cycle a half. */
    int straddled = S > banks && L < banks;
    CHECK(below <= straddled, "%s, L = %d, S = %d: %d more cycles in reading below", name, L, S, below);
    CHECK(left <= 32 / banks, "%s, L = %d, S = %d: %d more cycles in reading the left unknown", name, L, S, left);
    CHECK(solve_below <= below, "%s, L = %d, S = %d: %d more cycles in reading below, factored", name, L, S,
          solve_below);
    CHECK(solve_left <= left, "%s, L = %d, S = %d: %d more cycles in reading the left unknown, factored", name, L, S,
          solve_left);
    /* Without padding, two partitions of a line collide if they are L = 32 or more slots apart. */
    if (L >= banks && S > 1) CHECK(plain > 0, "%s, L = %d, S = %d: no bank conflicts even without padding", name, L, S);
}

int main(void)
{
    for (int I = 1; I <= 96; I++) {
        test_transpose("f32", 32, I, TRANSPOSE_LEN_F32(I));
        test_transpose("f64", 16, I, TRANSPOSE_LEN_F64(I));
    }
    for (int L = 1; L <= 1024; L *= 2)
        for (int S = 1; S <= 32; S *= 2)
            if (L * S >= 32 && L * S <= 1024) {
                test_lines("f32", 32, L, S, TRID_BLOCK_INTERLEAVED_LEN_F32(L, S),
                           TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F32(L, S));
                test_lines("f64", 16, L, S, TRID_BLOCK_INTERLEAVED_LEN_F64(L, S),
                           TRID_BLOCK_INTERLEAVED_SOLVE_LEN_F64(L, S));
            }
    return check_report();
}
