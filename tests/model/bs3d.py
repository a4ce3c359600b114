#!/usr/bin/env python3
"""Known answers for bs3d.h from the formulas of the model alone, in decimal arithmetic of 40 digits.

MIT licence, see LICENSE. Run from anywhere: python3 tests/model/bs3d.py writes tests/known/bs3d.txt; some seconds.

The operator L is a table of weights, to which each term of the equation adds its difference quotient; an explicit step
is u + L u, an implicit one solves each line by Gauss with the whole matrix; the derivatives are those of the cubic that
solves Vandermonde's system. Nothing is shared with the header, neither text nor order of operations.

A line of the file is, numbers as the exact values of their doubles,
    case METHOD PAYOFF FLAGS STEPS  POINTS  SPOT  TOP  VOLATILITY  DIVIDEND  CORRELATION  STRIKE RATE MATURITY
         PRICE  DELTA  GAMMA  CROSS  THETA  MOMENT
on one line, three numbers for each of POINTS to CORRELATION and of DELTA to CROSS; PAYOFF 1 asset 1, 2 geometric,
3 maximum, 4 minimum, 5 arithmetic, 6 the start values start(i, j, k) below; FLAGS 1 put, 2 American, 32 upwind, added.
MOMENT is the sum of all final values u(i, j, k), each
times 1 + start(i, k, j)^2. Or
    exact PAYOFF MATURITY VALUE
the closed form of the model problem at the strike: three equal assets, rho 1/2, spot = strike = 100, rate 0.05,
volatility 0.2.
"""

import decimal
import itertools
import math
import os
from decimal import Decimal

decimal.getcontext().prec = 40
OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "known", "bs3d.txt")

ASSET, GEOMETRIC, MAXIMUM, MINIMUM, ARITHMETIC, GIVEN = range(1, 7)
PUT, AMERICAN, UPWIND = 1, 2, 32
PAIRS = [(0, 1), (0, 2), (1, 2)]


def start(i, j, k):
    return (7 * i + 3 * j + 5 * k) % 11 - 5


def exact(numbers):
    return [Decimal(x) for x in numbers]


class Problem:
    """Everything in Decimal, as the doubles given are."""

    def __init__(self, method, payoff, flags, steps, points, spot, top, volatility, dividend, correlation, strike, rate,
                 maturity):
        self.doubles = [*spot, *top, *volatility, *dividend, *correlation, strike, rate, maturity]
        self.method, self.payoff, self.flags, self.steps, self.points = method, payoff, flags, steps, points
        self.spot, self.top, self.volatility = exact(spot), exact(top), exact(volatility)
        self.dividend, self.correlation = exact(dividend), exact(correlation)
        self.strike, self.rate, self.dt = Decimal(strike), Decimal(rate), Decimal(maturity) / steps
        self.h = [t / (n - 1) for t, n in zip(self.top, points)]
        self.nodes = list(itertools.product(*(range(n) for n in points)))

    def gain(self, node):
        s = [self.h[m] * node[m] for m in range(3)]
        if self.payoff == GIVEN:
            return Decimal(start(*node))
        product = s[0] * s[1] * s[2]
        inner = {ASSET: s[0], GEOMETRIC: product ** (Decimal(1) / 3) if product else Decimal(0), MAXIMUM: max(s),
                 MINIMUM: min(s), ARITHMETIC: sum(s) / 3}[self.payoff] - self.strike
        return max(-inner if self.flags & PUT else inner, Decimal(0))


def axis_weights(p, m, i):
    """dt times drift and diffusion along axis m, as {step: weight}; no second difference on the last point, where the
    first one looks down."""
    s, h, last = p.h[m] * i, p.h[m], i == p.points[m] - 1
    drift, diffusion = (p.rate - p.dividend[m]) * s * p.dt, (p.volatility[m] * s) ** 2 / 2 * p.dt
    if last:
        return {0: drift / h, -1: -drift / h}
    if p.flags & UPWIND:  # no neighbour's weight is negative
        diffusion = max(diffusion, abs(drift) * h / 2)
    return {1: drift / (2 * h) + diffusion / h**2, 0: -2 * diffusion / h**2, -1: -drift / (2 * h) + diffusion / h**2}


def operator(p):
    """The rows of dt L, each {neighbour: weight}."""
    rho = p.correlation
    seven_point = 1 - sum(r * r for r in rho) - 2 * abs(rho[0] * rho[1] * rho[2]) >= 0
    rows = {}
    for node in p.nodes:
        row = {}

        def add(weight, *steps):
            place = list(node)
            for m, step in steps:
                place[m] += step
            if weight:
                assert all(0 <= x < n for x, n in zip(place, p.points)), "a neighbour beyond the grid"
                row[tuple(place)] = row.get(tuple(place), 0) + weight

        add(-p.rate * p.dt)
        for m in range(3):
            for step, weight in axis_weights(p, m, node[m]).items():
                add(weight, (m, step))
        for r, (m, n) in zip(rho, PAIRS):
            if node[m] == p.points[m] - 1 or node[n] == p.points[n] - 1:
                continue
            # rho sigma sigma S S times the second derivative by S_m and S_n, of which h_m h_n has gone into the indices
            w = r * p.volatility[m] * p.volatility[n] * node[m] * node[n] * p.dt
            if seven_point:
                side = 1 if r > 0 else -1  # d2/dxdy = side (d2/dq2 - d2/dx2 - d2/dy2) / 2, q along the diagonal
                for sign in (1, -1):
                    add(side * w / 2, (m, sign), (n, side * sign))
                    add(-side * w / 2, (m, sign))
                    add(-side * w / 2, (n, sign))
                add(side * w)
            else:
                for a, b in itertools.product((1, -1), (1, -1)):
                    add(a * b * w / 4, (m, a), (n, b))
        rows[node] = row
    return rows


def gauss(matrix, right):
    n = len(right)
    a = [list(row) + [x] for row, x in zip(matrix, right)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[pivot] = a[pivot], a[k]
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k]
            if factor:
                a[i] = [x - factor * y for x, y in zip(a[i], a[k])]
    x = [Decimal(0)] * n
    for i in reversed(range(n)):
        x[i] = (a[i][n] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return x


def solve_lines(p, m, v):
    """(I - L_m) x = v along every line of axis m; the discount belongs to the first axis. The last row goes without its
    drift where that would make it no longer dominant."""
    n = p.points[m]
    matrix = [[Decimal(0)] * n for _ in range(n)]
    for i in range(n):
        matrix[i][i] += 1 + (p.rate * p.dt if m == 0 else 0)
        weights = axis_weights(p, m, i)
        if i == n - 1 and abs(matrix[i][i] - weights[0]) <= abs(weights[-1]):
            weights = {}
        for step, weight in weights.items():
            if weight:
                matrix[i][i + step] -= weight
    for node in p.nodes:
        if node[m] == 0:
            line = [node[:m] + (i,) + node[m + 1:] for i in range(n)]
            for at, x in zip(line, gauss(matrix, [v[at] for at in line])):
                v[at] = x


def march(p):
    rows, u = operator(p), {node: p.gain(node) for node in p.nodes}
    for _ in range(p.steps):
        change = {node: sum(w * u[at] for at, w in rows[node].items()) for node in p.nodes}
        if p.method == "implicit":
            for m in range(3):
                solve_lines(p, m, change)
        u = {node: u[node] + change[node] for node in p.nodes}
        if p.flags & AMERICAN:
            u = {node: max(u[node], p.gain(node)) for node in p.nodes}
    return u


def greeks(p, u):
    """Of the product of cubics: by each axis, weights of four points for the value and two derivatives."""
    weights, first = [], []
    for m in range(3):
        at = min(max(int(p.spot[m] / p.h[m]) - 1, 0), p.points[m] - 4)
        x = p.spot[m] / p.h[m] - at
        powers = [[Decimal(1), x, x**2, x**3], [Decimal(0), Decimal(1), 2 * x, 3 * x**2],
                  [Decimal(0), Decimal(0), Decimal(2), 6 * x]]
        vandermonde = [[Decimal(point) ** power if power else Decimal(1) for point in range(4)] for power in range(4)]
        weights.append([[w / p.h[m] ** order for w in gauss(vandermonde, powers[order])] for order in range(3)])
        first.append(at)

    def derivative(*order):
        return sum(weights[0][order[0]][a] * weights[1][order[1]][b] * weights[2][order[2]][c] *
                   u[first[0] + a, first[1] + b, first[2] + c]
                   for a, b, c in itertools.product(range(4), repeat=3))

    def equation():
        """What the equation says of the derivative by time; that of a payoff which is exercised is 0."""
        cell = [min(int(p.spot[m] / p.h[m]), p.points[m] - 2) for m in range(3)]
        corners = list(itertools.product(*((c, c + 1) for c in cell)))
        if p.flags & AMERICAN and all(u[at] == p.gain(at) > 0 for at in corners):
            return Decimal(0)
        axes = [tuple(int(m == n) for n in range(3)) for m in range(3)]
        theta = p.rate * derivative(0, 0, 0)
        for m in range(3):
            theta -= (p.rate - p.dividend[m]) * p.spot[m] * derivative(*axes[m])
            for n in range(3):
                rho = 1 if m == n else p.correlation[PAIRS.index((min(m, n), max(m, n)))]
                order = [a + b for a, b in zip(axes[m], axes[n])]
                theta -= rho * p.volatility[m] * p.volatility[n] * p.spot[m] * p.spot[n] / 2 * derivative(*order)
        return theta

    return [derivative(*order) for order in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 0, 0), (0, 2, 0),
                                             (0, 0, 2), (1, 1, 0), (1, 0, 1), (0, 1, 1)]] + [equation()]


def case_line(*arguments):
    p = Problem(*arguments)
    u = march(p)
    moment = sum((1 + start(i, k, j) ** 2) * x for (i, j, k), x in u.items())
    return " ".join(["case", p.method, *map(str, [p.payoff, p.flags, p.steps, *p.points]),
                     *(f"{x:.17g}" for x in p.doubles), *(f"{x:.20e}" for x in [*greeks(p, u), moment])])


# ---- closed forms ----------------------------------------------------------------------------------------------------


def normal(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def gauss_legendre(n):
    nodes = []
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        for _ in range(100):
            before, now = 1.0, x
            for k in range(2, n + 1):
                before, now = now, ((2 * k - 1) * x * now - (k - 1) * before) / k
            slope = n * (x * now - before) / (x * x - 1)
            x -= now / slope
        nodes.append((x, 2 / ((1 - x * x) * slope * slope)))
    return nodes


def closed_forms(maturity):
    """S_i = F exp(s (M + E_i) / sqrt 2 - s^2 / 2), M and E_i independent normals, s = sigma sqrt T; a call on maximum
    or minimum is the integral of the probability to be above x, x from the strike upwards."""
    spot = strike = 100.0
    rate, sigma = 0.05, 0.2
    s, forward, discount = sigma * math.sqrt(maturity), spot * math.exp(rate * maturity), math.exp(-rate * maturity)

    # The geometric mean's variance is (3 + 6 rho) / 9 of one asset's; its forward is below theirs.
    g = s * math.sqrt(6 / 9)
    mean = forward * math.exp(g * g / 2 - s * s / 2)
    d = math.log(mean / strike) / g + g / 2
    geometric = discount * (mean * normal(d) - strike * normal(d - g))

    step = 0.05
    common = [(m * step, step * math.exp(-((m * step) ** 2) / 2) / math.sqrt(2 * math.pi)) for m in range(-200, 201)]
    maximum = minimum = 0.0
    for x, w in gauss_legendre(60):
        y = 12 * s * (x + 1) / 2  # price strike e^y, as far as 12 deviations
        price = strike * math.exp(y)
        a = (math.log(price / forward) + s * s / 2) / s
        below = [(weight, normal(a * math.sqrt(2) - m)) for m, weight in common]
        maximum += w * 6 * s * price * sum(weight * (-math.expm1(3 * math.log(q)) if q else 1) for weight, q in below)
        minimum += w * 6 * s * price * sum(weight * (1 - q) ** 3 for weight, q in below)
    return geometric, discount * maximum, discount * minimum


# ---- the cases -------------------------------------------------------------------------------------------------------

HALF = (0.5, 0.5, 0.5)
MIXED = (0.4, -0.3, 0.2)  # seven points, both diagonals
STRONG = (0.9, 0.9, 0.9)  # four corners
STRONG_MIXED = (0.9, -0.7, -0.6)
EQUAL = ((0.2, 0.2, 0.2), (0, 0, 0))
QUIET = ((0.03, 0.05, 0.02), (0.01, 0.04, 0.025))  # drift beats diffusion on the first points
UNEQUAL = ((0.25, 0.18, 0.33), (0.01, 0.04, 0.025))
WIDE = (200, 200, 200)
TOPS = (210, 180, 260)


def cases():
    near, off = (97.3, 103.1, 101.7), (88.8, 121.4, 64.2)
    corner, low = (209.1, 178.5, 3.25), (0.5, 12.5, 259.9)
    shapes = [(5, 7, 6), (4, 4, 4), (7, 5, 4), (6, 8, 9), (4, 9, 5)]
    yield "explicit", ASSET, 0, 7, shapes[0], near, WIDE, *EQUAL, HALF, 100, 0.05, 0.5
    yield "explicit", GEOMETRIC, 0, 6, shapes[0], near, TOPS, *UNEQUAL, HALF, 99, 0.06, 0.4
    yield "explicit", MAXIMUM, 0, 5, shapes[3], off, TOPS, *UNEQUAL, (0.3, 0.1, 0.6), 104, 0.03, 0.15
    yield "explicit", MINIMUM, PUT, 5, shapes[2], off, TOPS, *UNEQUAL, MIXED, 96, -0.02, 0.25
    yield "explicit", MAXIMUM, PUT, 1, shapes[1], near, TOPS, *UNEQUAL, (-0.2, -0.35, -0.15), 120, 0.05, 0.2
    yield "explicit", GEOMETRIC, PUT, 8, shapes[4], near, TOPS, *UNEQUAL, STRONG, 105, 0.04, 0.3
    yield "explicit", MINIMUM, 0, 4, shapes[3], near, TOPS, *UNEQUAL, STRONG_MIXED, 80, 0.07, 0.1
    yield "explicit", GIVEN, 0, 3, shapes[0], corner, TOPS, *UNEQUAL, MIXED, 100, 0.05, 0.1
    yield "explicit", GIVEN, 0, 6, shapes[2], low, TOPS, *UNEQUAL, STRONG, 100, 0.05, 0.2
    yield "explicit", GIVEN, 0, 2, shapes[3], off, TOPS, *UNEQUAL, (0, 0, 0), 100, 0.05, 0.06
    yield "explicit", GIVEN, 0, 2, shapes[3], off, TOPS, *UNEQUAL, (0.5, -0.4, 0), 100, 0.05, 0.06
    yield "implicit", ASSET, 0, 4, shapes[0], near, WIDE, *EQUAL, HALF, 100, 0.05, 0.5
    yield "implicit", GEOMETRIC, 0, 3, shapes[0], near, TOPS, *UNEQUAL, HALF, 99, 0.06, 3
    yield "implicit", MAXIMUM, 0, 5, shapes[3], off, TOPS, *UNEQUAL, (0.3, 0.1, 0.6), 104, 0.03, 2
    yield "implicit", MINIMUM, PUT, 3, shapes[2], off, TOPS, *UNEQUAL, MIXED, 96, -0.02, 1
    yield "implicit", MAXIMUM, PUT, 1, shapes[1], near, TOPS, *UNEQUAL, (-0.2, -0.35, -0.15), 120, 0.05, 0.7
    yield "implicit", GEOMETRIC, PUT, 4, shapes[4], near, TOPS, *UNEQUAL, STRONG, 105, 0.04, 1
    yield "implicit", MINIMUM, 0, 2, shapes[3], near, TOPS, *UNEQUAL, STRONG_MIXED, 80, 0.07, 1.5
    yield "implicit", GIVEN, 0, 3, shapes[0], corner, TOPS, *UNEQUAL, MIXED, 100, 0.05, 1
    yield "implicit", GIVEN, 0, 6, shapes[2], low, TOPS, *UNEQUAL, STRONG, 100, 0.05, 2
    yield "implicit", GIVEN, 0, 2, shapes[3], off, TOPS, *UNEQUAL, (0.5, -0.4, 0), 100, 0.05, 3
    yield "explicit", ARITHMETIC, 0, 5, shapes[3], near, TOPS, *UNEQUAL, HALF, 98, 0.05, 0.15
    yield "explicit", ARITHMETIC, PUT + AMERICAN, 5, shapes[0], near, TOPS, *UNEQUAL, MIXED, 110, 0.07, 0.3
    yield "explicit", MINIMUM, PUT + AMERICAN, 6, shapes[2], (12.5, 80, 90), TOPS, *UNEQUAL, HALF, 120, 0.1, 0.3
    yield "implicit", MAXIMUM, AMERICAN, 4, shapes[0], near, TOPS, UNEQUAL[0], (0.1, 0.12, 0.09), MIXED, 95, 0.03, 2
    yield "implicit", ARITHMETIC, PUT + AMERICAN, 3, shapes[4], off, TOPS, *UNEQUAL, STRONG, 105, 0.08, 1
    yield "explicit", MAXIMUM, UPWIND, 4, shapes[3], near, TOPS, *QUIET, HALF, 100, 0.06, 0.8
    yield "implicit", GEOMETRIC, PUT + UPWIND, 3, shapes[0], near, TOPS, *QUIET, MIXED, 104, 0.01, 2
    yield "implicit", MINIMUM, 0, 2, shapes[0], near, TOPS, *UNEQUAL, HALF, 90, 0.09, 15
    yield "implicit", GIVEN, UPWIND, 3, shapes[3], off, TOPS, *QUIET, STRONG, 100, 0.12, 20


if __name__ == "__main__":
    with open(OUTPUT, "w") as out:
        out.write("# Written by tests/model/bs3d.py in decimal arithmetic of 40 digits; exact: integrals in doubles.\n")
        for maturity in (0.05, 0.6):
            for payoff, value in zip((GEOMETRIC, MAXIMUM, MINIMUM), closed_forms(maturity)):
                out.write(f"exact {payoff} {maturity} {value:.15g}\n")
        for case in cases():
            out.write(case_line(*case) + "\n")
