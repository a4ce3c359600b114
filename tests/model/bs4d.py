#!/usr/bin/env python3
"""Known answers for examples/bs4d.cu and bs4d_host.c from the formulas of the model alone, in decimals of 40 digits.

MIT licence, see LICENSE. Run from anywhere: python3 tests/model/bs4d.py writes tests/known/bs4d.txt; some seconds.

The operator is a table of weights, to which each term of the equation adds its difference quotient; a step solves the
lines of each axis by Gauss with the whole matrix. Nothing is shared with the examples, neither text nor order of
operations.

A line of the file is, numbers as the exact values of their doubles,
    case STEPS POINTS RATE MATURITY VOLATILITY CORRELATION MIDDLE MOMENT
on one line, four numbers for each of POINTS and VOLATILITY, six for CORRELATION; the march starts from start(i, j, k, l)
below. MIDDLE is the value at the point in the middle, points / 2 of each axis, MOMENT the sum of all final values
u(i, j, k, l), each times 1 + start(i, k, l, j)^2. Or
    exact SPOT STRIKE RATE MATURITY VOLATILITY POWER CORRELATION VALUE
a call on the product of powers of four assets: the integral of what it pays over the density of the product's logarithm,
whose variance is the square of a vector's length, the vector taken from Cholesky's factor of the correlations.
"""

import decimal
import itertools
import math
import os
from decimal import Decimal

decimal.getcontext().prec = 40
OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "known", "bs4d.txt")
AXES = range(4)
PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def start(i, j, k, l):
    return (7 * i + 3 * j + 5 * k + 2 * l) % 11 - 5


def cholesky(correlation):
    matrix = [[1.0] * 4 for _ in AXES]
    for (m, n), r in zip(PAIRS, correlation):
        matrix[m][n] = matrix[n][m] = r
    low = [[0.0] * 4 for _ in AXES]
    for m in AXES:
        for n in range(m + 1):
            rest = matrix[m][n] - sum(low[m][k] * low[n][k] for k in range(n))
            low[m][n] = math.sqrt(rest) if m == n else rest / low[n][n]  # fails where they are no correlations
    return low


# ---- marches ---------------------------------------------------------------------------------------------------------


def own_weights(points, sigma, rate, dt, m, i):
    """What an axis has for itself: the second difference, none on the last point, and the drift."""
    weights = {-1: Decimal(0), 0: Decimal(0), 1: Decimal(0)}
    diffusion, drift = sigma[m] ** 2 * i * i / 2 * dt, rate * i * dt
    if i == points[m] - 1:
        weights[0] += drift
        weights[-1] -= drift
    else:
        for step, w in ((-1, diffusion - drift / 2), (0, -2 * diffusion), (1, diffusion + drift / 2)):
            weights[step] += w
    return weights


def operator(points, sigma, rate, rho, dt, node):
    row = {}

    def add(weight, *moves):
        at = list(node)
        for axis, step in moves:
            at[axis] += step
        if weight:
            row[tuple(at)] = row.get(tuple(at), Decimal(0)) + weight

    add(-rate * dt)
    for m in AXES:
        for step, weight in own_weights(points, sigma, rate, dt, m, node[m]).items():
            add(weight, (m, step))
    for (m, n), r in zip(PAIRS, rho):
        if node[m] == points[m] - 1 or node[n] == points[n] - 1:
            continue
        for p, q in itertools.product((1, -1), (1, -1)):
            add(p * q * r * sigma[m] * sigma[n] * node[m] * node[n] * dt / 4, (m, p), (n, q))
    return row


def gauss(matrix, columns):
    """Several right-hand sides at once."""
    n = len(matrix)
    a = [list(row) + [c[i] for c in columns] for i, row in enumerate(matrix)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[pivot] = a[pivot], a[k]
        for i in range(n):
            factor = a[i][k] / a[k][k] if i != k else 0
            if factor:
                a[i] = [x - factor * y if y else x for x, y in zip(a[i], a[k])]
    return [[a[i][n + c] / a[i][i] for i in range(n)] for c in range(len(columns))]


def solve_lines(points, sigma, rate, dt, m, change):
    matrix = [[Decimal(int(i == j)) for j in range(points[m])] for i in range(points[m])]
    for i in range(points[m]):
        matrix[i][i] += rate * dt if m == 0 else 0
        for step, weight in own_weights(points, sigma, rate, dt, m, i).items():
            if weight:
                matrix[i][i + step] -= weight
    lines = [[node[:m] + (i,) + node[m + 1:] for i in range(points[m])] for node in change if node[m] == 0]
    for line, solved in zip(lines, gauss(matrix, [[change[at] for at in line] for line in lines])):
        change.update(zip(line, solved))


def case_line(steps, points, rate, maturity, sigma, rho):
    cholesky(rho)
    doubles = [rate, maturity, *sigma, *rho]
    rate, sigma, rho, dt = Decimal(rate), [Decimal(s) for s in sigma], [Decimal(r) for r in rho], Decimal(maturity) / steps
    nodes = list(itertools.product(*(range(n) for n in points)))
    rows = {node: operator(points, sigma, rate, rho, dt, node) for node in nodes}
    u = {node: Decimal(start(*node)) for node in nodes}
    for _ in range(steps):
        change = {node: sum(w * u[at] for at, w in rows[node].items()) for node in nodes}
        for m in AXES:
            solve_lines(points, sigma, rate, dt, m, change)
        u = {node: u[node] + change[node] for node in nodes}
    moment = sum((1 + start(i, k, l, j) ** 2) * x for (i, j, k, l), x in u.items())
    return " ".join(["case", *map(str, [steps, *points]), *(f"{x:.17g}" for x in doubles),
                     f"{u[tuple(n // 2 for n in points)]:.20e}", f"{moment:.20e}"])


# ---- closed forms ----------------------------------------------------------------------------------------------------


def closed_form_line(spot, strike, rate, maturity, sigma, power, rho):
    low, root = cholesky(rho), math.sqrt(maturity)
    vector = [sum(low[m][k] * sigma[m] * power[m] for m in AXES) * root for k in AXES]
    length = math.sqrt(sum(x * x for x in vector))
    mean = sum(power[m] * (math.log(spot) + (rate - sigma[m] ** 2 / 2) * maturity) for m in AXES)
    # Simpson's rule over the part where it pays, 12 deviations of the integrand far.
    begin, cells = (math.log(strike) - mean) / length, 20000
    h, terms = (12 + length - begin) / cells, []
    for i in range(cells + 1):
        x = begin + i * h
        pays = math.exp(mean + length * x) - strike
        terms.append((1 if i in (0, cells) else 4 if i % 2 else 2) * pays * math.exp(-x * x / 2))
    value = math.exp(-rate * maturity) * math.fsum(terms) * h / 3 / math.sqrt(2 * math.pi)
    return " ".join(["exact", *(f"{x:.17g}" for x in [spot, strike, rate, maturity, *sigma, *power, *rho]), f"{value:.15g}"])


# ---- the cases -------------------------------------------------------------------------------------------------------

HALF, NONE = (0.5,) * 6, (0.0,) * 6
MIXED = (0.5, -0.3, 0.2, 0.1, 0.4, -0.6)
STRONG = (0.9, 0.8, 0.85, 0.7, 0.9, 0.65)
EQUAL, UNEQUAL = (0.2,) * 4, (0.25, 0.18, 0.33, 0.4)


def cases():
    yield 3, (8, 4, 8, 4), 0.05, 1, EQUAL, HALF
    yield 2, (4, 8, 4, 20), 0.06, 0.8, UNEQUAL, MIXED
    yield 2, (12, 8, 4, 8), -0.03, 1.5, UNEQUAL, STRONG
    yield 2, (8, 4, 12, 4), 0.04, 0.7, UNEQUAL, NONE
    yield 2, (40, 4, 4, 8), 0.05, 0.5, UNEQUAL, MIXED
    yield 2, (76, 8, 4, 4), 0.01, 0.9, UNEQUAL, MIXED
    for pair in range(6):  # one correlation alone
        yield 1, (4, 4, 4, 4), 0.05, 0.6, UNEQUAL, tuple(0.7 * (p == pair) for p in range(6))


def closed_forms():
    average = (0.25,) * 4
    yield 100, 100, 0.05, 1, EQUAL, average, HALF
    yield 100, 110, 0.02, 0.5, UNEQUAL, average, MIXED
    yield 90, 100, 0.07, 2, UNEQUAL, (0.1, 0.2, 0.3, 0.4), STRONG
    for m in AXES:
        yield 100, 100, 0.05, 1, UNEQUAL, tuple(float(m == n) for n in AXES), NONE


if __name__ == "__main__":
    with open(OUTPUT, "w") as out:
        out.write("# Written by tests/model/bs4d.py in decimal arithmetic of 40 digits; exact: integrals in doubles.\n")
        for exact in closed_forms():
            out.write(closed_form_line(*exact) + "\n")
        for case in cases():
            out.write(case_line(*case) + "\n")
