#!/usr/bin/env python3
"""Known answers for the benchmark problem of local volatility calibration, in decimal arithmetic of 30 digits.

MIT licence, see LICENSE. Run from anywhere: python3 tests/model/locvol.py writes tests/known/locvol.txt; some minutes.

The equations are those above examples/locvol_plain.h. Variances come from powers instead of exponentials of sums, and
lines are eliminated from their last row upwards. A line of the file is
    SET OUTER NUMX NUMY NUMT  K VALUE
the result of problem K.
"""

import decimal
import os
from decimal import Decimal

decimal.getcontext().prec = 30
OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "known", "locvol.txt")

S0, T, ALPHA, NU = Decimal("0.03"), Decimal(5), Decimal("0.2"), Decimal("0.6")
SETS = [
    ("small", 16, 32, 256, 256, [0, 5, 15]),
    ("medium", 128, 256, 32, 64, [1, 127]),
    ("large", 256, 256, 256, 64, [1, 255]),
]


def upwards(below, diagonal, above, right):
    """The solution of a tridiagonal system, eliminated from the last row to the first."""
    n = len(right)
    pivot, d = diagonal[:], right[:]
    for i in range(n - 2, -1, -1):
        m = above[i] / pivot[i + 1]
        pivot[i] -= m * below[i + 1]
        d[i] -= m * d[i + 1]
    x = [d[0] / pivot[0]]
    for i in range(1, n):
        x.append((d[i] - below[i] * x[-1]) / pivot[i])
    return x


def second(u, h2):
    """The second difference along a line, 0 at its ends."""
    inner = [(u[i - 1] - 2 * u[i] + u[i + 1]) / h2 for i in range(1, len(u) - 1)]
    return [Decimal(0)] + inner + [Decimal(0)]


def implicit(q, size, h2, right):
    """Solves (q - size D) x = right along a line, D the second difference and size a number a point."""
    n = len(right)
    side = [Decimal(0)] + [-s / h2 for s in size[1:-1]] + [Decimal(0)]
    return upwards(side, [q - 2 * s for s in side], side, right)


def value(numx, numy, numt, strike):
    dx, dy = 20 * ALPHA * S0 * T.sqrt() / numx, 10 * NU * T.sqrt() / numy
    ix, iy = int(S0 / dx), numy // 2
    x = [S0 + (i - ix) * dx for i in range(numx)]
    y = [ALPHA.ln() + (j - iy) * dy for j in range(numy)]
    square = [(2 * point).exp() for point in y]  # beta is 1/2: x^(2 beta) = x
    quarter_y = [NU * NU / 4] * numy
    r = [[max(point - strike, Decimal(0))] * numy for point in x]
    for g in range(numt - 2, -1, -1):
        time, q = T * g / (numt - 1), (numt - 1) / T
        decay = (-NU * NU * time).exp()
        v = [[NU * NU / 2 * d for d in second(line, dy * dy)] for line in r]
        middle = []
        for j in range(numy):
            column = [line[j] for line in r]
            quarter = [point * square[j] * decay / 4 for point in x]
            along = second(column, dx * dx)
            w = [q * column[i] + quarter[i] * along[i] + v[i][j] for i in range(numx)]
            middle.append(implicit(q, quarter, dx * dx, w))
        for i in range(numx):
            r[i] = implicit(q, quarter_y, dy * dy, [q * middle[j][i] - v[i][j] / 2 for j in range(numy)])
    return r[ix][iy]


def main():
    lines = ["# Written by tests/model/locvol.py in decimal arithmetic of 30 digits."]
    for name, outer, numx, numy, numt, problems in SETS:
        for k in problems:
            got = value(numx, numy, numt, Decimal(k) / 1000)
            lines.append(f"{name} {outer} {numx} {numy} {numt} {k} {got:.20f}")
    with open(OUTPUT, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
