#!/usr/bin/env python3
"""Known answers for trid.h, in exact rational arithmetic from the definition of a tridiagonal system alone.

MIT licence, see LICENSE. Run from anywhere: python3 tests/model/trid.py writes tests/known/trid.txt.

The matrix is written out in full and inverted by Gauss-Jordan elimination with row exchanges, so nothing here shares
its order of elimination with the solvers under test. Entries are taken as the exact values of their doubles.
"""

import decimal
import os
from fractions import Fraction

DIGITS = 25
OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "known", "trid.txt")


def full_matrix(a, b, c):
    n = len(b)
    rows = [[Fraction(0)] * n for _ in range(n)]
    for j in range(n):
        rows[j][j] = b[j]
        if j > 0:
            rows[j][j - 1] = a[j]
        if j < n - 1:
            rows[j][j + 1] = c[j]
    return rows


def inverse(matrix):
    n = len(matrix)
    rows = [list(row) + [Fraction(i == j) for j in range(n)] for i, row in enumerate(matrix)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            factor = rows[i][k]
            if i != k and factor != 0:
                rows[i] = [v - factor * w for v, w in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]


def times(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]


def magnitudes(matrix):
    return [[abs(v) for v in row] for row in matrix]


def solve(a, b, c, d):
    """The solution, and by how much relative errors in the entries grow in it: max |A^-1| (|A||x| + |d|) / max |x|."""
    matrix = full_matrix(a, b, c)
    inverted = inverse(matrix)
    x = times(inverted, d)
    assert times(matrix, x) == d
    felt = [p + abs(q) for p, q in zip(times(magnitudes(matrix), [abs(v) for v in x]), d)]
    largest = max(abs(v) for v in x)
    growth = max(times(magnitudes(inverted), felt)) / largest if largest else Fraction(1)
    return x, growth


def black_scholes(points):
    """Fully implicit one-factor Black-Scholes: Smax = 200, r = 0.05, sigma = 0.2, 50 steps to T = 1; a call's payoff."""
    rate, volatility, step, strike = 0.05, 0.2, 1.0 / 50, 100.0
    spacing = 200.0 / (points - 1)
    a, b, c, d = [], [], [], []
    for j in range(points):
        spot = j * spacing
        diffusion = 0.5 * volatility**2 * step * spot**2 / spacing**2
        drift = 0.5 * rate * step * spot / spacing
        if j < points - 1:
            a.append(-(diffusion - drift))
            b.append(1 + rate * step + 2 * diffusion)
            c.append(-(diffusion + drift))
        else:  # linear beyond the last point
            a.append(2 * drift)
            b.append(1 + rate * step - 2 * drift)
            c.append(0.0)
        d.append(max(spot - strike, 0.0))
    return a, b, c, d


def scattered(n):
    """Small integers and eighths without a pattern, every row dominant, signs mixed."""
    a = [((7 * j + 3) % 11 - 5) / 4 for j in range(n)]
    c = [((5 * j + 1) % 13 - 6) / 8 for j in range(n)]
    b = [(-1) ** (j // 3) * (abs(a[j]) + abs(c[j]) + 0.5 + (j % 4) / 8) for j in range(n)]
    d = [(11 * j + 2) % 17 - 8.0 for j in range(n)]
    return a, b, c, d


# name, which solvers it is for, (a, b, c, d)
SYSTEMS = [
    ("single_row", "all", ([0], [-4], [0], [7])),
    ("two_rows", "all", ([0, 1], [3, 5], [-2, 0], [1, 9])),
    ("three_negative_couplings", "all", ([0, -1, -1], [2, 2.5, 2], [-1, -1, 0], [1, 0, -3])),
    ("five_nonsymmetric", "all", ([0, 3, -1, 0.5, 2], [4, -8, 3, 2, 5], [1, 2, 1.5, -1, 0], [1, 2, 3, 4, 5])),
    # |b| is a quarter of |a| + |c|, but a c < 0 keeps every pivot away from zero in any order.
    ("eight_not_dominant", "all", ([2] * 8, [1] * 8, [-2] * 8, [1, 0, 0, -2, 0, 3, 0, 1])),
    # 1 - a[2] c[1] - c[2] a[3] = 0: parallel cyclic reduction divides by zero where Thomas does not.
    ("four_thomas_only", "thomas", ([0, -1, 0.5, 0.5], [1, 1, 1, 1], [1, 1, 1, 0], [1, 2, -1, 4])),
    ("sixteen_black_scholes", "all", black_scholes(16)),
    ("thirty_three_scattered", "all", scattered(33)),
]


def decimal_of(value):
    with decimal.localcontext() as context:
        context.prec = DIGITS
        return format(decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator), f".{DIGITS - 1}e")


def lines():
    yield "# Written by tests/model/trid.py: exact rational arithmetic, solutions rounded to 25 digits."
    yield "# system NAME ROWS SOLVERS GROWTH, then a row a line: a b c d x; the corners a[0] and c[n-1] are nan."
    for name, solvers, (a, b, c, d) in SYSTEMS:
        n = len(b)
        entries = [[float(v) for v in column] for column in (a, b, c, d)]
        x, growth = solve(*[[Fraction(v) for v in column] for column in entries])
        yield f"system {name} {n} {solvers} {float(growth):.3e}"
        for j in range(n):
            below, diagonal, above, right = (column[j].hex() for column in entries)
            below = "nan" if j == 0 else below
            above = "nan" if j == n - 1 else above
            yield f"{below} {diagonal} {above} {right} {decimal_of(x[j])}"


if __name__ == "__main__":
    text = "\n".join(lines()) + "\n"
    with open(OUTPUT, "w", encoding="ascii") as file:
        file.write(text)
