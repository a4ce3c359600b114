#!/usr/bin/env python3
"""Known answers for pde/fd1d.h from outside finite differences wherever there is a way: closed forms, quadrature and an
integral equation; only the local volatility comes from a grid, refined until it stands.

MIT licence, see LICENSE. Run from anywhere: python3 tests/model/fd1d.py > tests/known/fd1d.txt; about a minute.
Needs numpy, scipy and mpmath.

A line of the file is one of
    cev BETA SIGMA RATE DIVIDEND MATURITY STRIKE SPOT CALL PUT
    cev_american BETA SIGMA RATE MATURITY STRIKE SPOT PUT
    vasicek KAPPA MEAN SIGMA MATURITY RATE BOND
    vasicek_option KAPPA MEAN SIGMA EXPIRY MATURITY STRIKE RATE CALL PUT
    vasicek_coupon KAPPA MEAN SIGMA MATURITY COUPON RATE VALUE
    cir KAPPA MEAN SIGMA MATURITY RATE BOND
    cir_option KAPPA MEAN SIGMA EXPIRY MATURITY STRIKE RATE CALL PUT
    growing_put VOLATILITY RATE MATURITY STRIKE GROWTH SPOT PUT
    surface RATE DIVIDEND MATURITY STRIKE SPOT CALL
    stock VOLATILITY RATE MATURITY STRIKE SPOT CALL DELTA GAMMA
    barrier VOLATILITY RATE MATURITY STRIKE BARRIER SPOT CALL   (looked at on 0.25, 0.5, 0.75, 1)
    dividends VOLATILITY RATE MATURITY STRIKE SPOT CALL   (2 % at 0.5, 3 in cash at 0.75)
parameters in full, values rounded to 12 digits, to 8 in cev_american, growing_put and surface. Each value was found by
a second way too, which is not kept here: comments name it and how far apart the two were.
"""

import mpmath as mp
import numpy as np
from numpy.polynomial import chebyshev
from numpy.polynomial.legendre import leggauss
from scipy import special
from scipy.interpolate import barycentric_interpolate
from scipy.linalg import solve_banded

mp.mp.dps = 50
SPOTS = "80 90 100 110 120"


def line(kind, parameters, place, values, digits):
    texts = [mp.nstr(mp.mpf(v), digits, strip_zeros=False, min_fixed=-6, max_fixed=9) for v in values]
    print(kind, parameters, place, *texts, flush=True)


def exactly(kind, function, parameters, places):
    """A line for each spot or rate, in numbers of 50 digits."""
    for place in places.split():
        values = function(*map(mp.mpf, parameters.split() + [place]))
        line(kind, parameters, place, values if isinstance(values, tuple) else (values,), 12)


def in_doubles(kind, function, parameters, places, digits):
    """A line for each spot, all of which the function takes at once."""
    values = function(*map(float, parameters.split()), np.array(places.split(), float))
    for place, value in zip(places.split(), values):
        line(kind, parameters, place, [value], digits)


def gauss(low, high, count):
    """Gauss and Legendre's points and weights on [low, high], along the last axis."""
    x, w = leggauss(count)
    return low + (high - low) * (x + 1) / 2, w * (high - low) / 2


def chi_square(x, freedom, shift):
    """The distribution function of the noncentral chi-square, as Poisson's mixture of gamma distributions. These come
    from P(a + 1, x) = P(a, x) - x^a e^-x / Gamma(a + 1), which cancels; 50 digits make that loss harmless."""
    x, freedom, shift = x / 2, freedom / 2, shift / 2
    below = mp.gammainc(freedom, 0, x, regularized=True)
    drop = x**freedom * mp.exp(-x) / mp.gamma(freedom + 1)
    weight, total = mp.exp(-shift), mp.mpf(0)
    for j in range(int(shift + 25 * mp.sqrt(shift) + 150)):
        total += weight * below
        below -= drop
        drop *= x / (freedom + j + 1)
        weight *= shift / (j + 1)
    return total


# Second way: Gauss and Legendre's quadrature of the payoff over the density of the absorbed Bessel process, the strike
# paid on the absorbed mass: 3e-13 apart at most.
def cev(beta, sigma, rate, dividend, maturity, strike, spot):
    """Call and put if dS = (rate - dividend) S dt + sigma S^beta dW, by Cox (1975) and Schroder (1989). Zero absorbs,
    so a put pays the strike there and parity holds."""
    growth, power = rate - dividend, 2 * (1 - beta)
    clock = (1 - mp.exp(-growth * power * maturity)) / (growth * power)  # without drift, S exp(-growth t) runs by it
    scale = (1 - beta) ** 2 * sigma**2 * clock
    a, c = (strike * mp.exp(-growth * maturity)) ** power / scale, spot**power / scale
    freedom = 1 / (1 - beta)
    asset_below, above = chi_square(a, freedom + 2, c), chi_square(c, freedom, a)
    asset, cash = spot * mp.exp(-dividend * maturity), strike * mp.exp(-rate * maturity)
    return asset * (1 - asset_below) - cash * above, cash * (1 - above) - asset * asset_below


# Second way: the moments of the rate and of its integral by quadrature of what noise does to them: 1e-21 apart.
def vasicek(kappa, mean, sigma, maturity, rate):
    """A bond, Vasicek (1977)."""
    b = (1 - mp.exp(-kappa * maturity)) / kappa
    far = mean - sigma**2 / (2 * kappa**2)
    return mp.exp((b - maturity) * far - sigma**2 * b**2 / (4 * kappa) - b * rate)


# Second way: the payoff by quadrature over the rate's normal distribution, with those moments: 2e-21 apart at most.
def vasicek_option(kappa, mean, sigma, expiry, maturity, strike, rate):
    """Call and put on a bond, Jamshidian (1989)."""
    short, long = vasicek(kappa, mean, sigma, expiry, rate), vasicek(kappa, mean, sigma, maturity, rate)
    b = (1 - mp.exp(-kappa * (maturity - expiry))) / kappa
    deviation = sigma * b * mp.sqrt((1 - mp.exp(-2 * kappa * expiry)) / (2 * kappa))
    h = mp.log(long / (strike * short)) / deviation + deviation / 2
    return (long * mp.ncdf(h) - strike * short * mp.ncdf(h - deviation),
            strike * short * mp.ncdf(deviation - h) - long * mp.ncdf(-h))


# Second way: the integral term by term, the bond expanded in powers of exp(-kappa t): 8e-51 apart at most.
def vasicek_coupon(kappa, mean, sigma, maturity, coupon, rate):
    """A bond that pays a coupon all the time."""
    bond = lambda t: vasicek(kappa, mean, sigma, t, rate)
    return coupon * mp.quad(bond, [0, maturity]) + bond(maturity)


# Second way: Riccati's equations, solved numerically: 1.3e-15 apart at most.
def cir(kappa, mean, sigma, maturity, rate):
    """A bond, Cox, Ingersoll and Ross (1985)."""
    h = mp.sqrt(kappa**2 + 2 * sigma**2)
    grow = mp.exp(h * maturity) - 1
    below = 2 * h + (kappa + h) * grow
    power = 2 * kappa * mean / sigma**2
    return (2 * h * mp.exp((kappa + h) * maturity / 2) / below) ** power * mp.exp(-2 * grow / below * rate)


# Second way: the call by Gauss and Jacobi's quadrature over the rate's discounted density, payoff and kink from
# Riccati's equations: 6e-14 apart at most. The put is by parity alone.
def cir_option(kappa, mean, sigma, expiry, maturity, strike, rate):
    """Call on a bond, equation (32) of Cox, Ingersoll and Ross (1985), and put by parity."""
    h = mp.sqrt(kappa**2 + 2 * sigma**2)
    phi = 2 * h / (sigma**2 * (mp.exp(h * expiry) - 1))
    psi = (kappa + h) / sigma**2
    log_a = mp.log(cir(kappa, mean, sigma, maturity - expiry, 0))  # of the bond A exp(-b rate)
    b = log_a - mp.log(cir(kappa, mean, sigma, maturity - expiry, 1))
    kink = (log_a - mp.log(strike)) / b
    freedom, top = 4 * kappa * mean / sigma**2, 2 * phi**2 * rate * mp.exp(h * expiry)
    long, short = cir(kappa, mean, sigma, maturity, rate), cir(kappa, mean, sigma, expiry, rate)
    call = (long * chi_square(2 * kink * (phi + psi + b), freedom, top / (phi + psi + b))
            - strike * short * chi_square(2 * kink * (phi + psi), freedom, top / (phi + psi)))
    return call, call - long + strike * short


def scaled_bessel(index, z):
    """exp(-z) I(z). The library gives up near 1e9, where two terms of the asymptotic series suffice."""
    series = (1 - (4 * index**2 - 1) / (8 * z)) / np.sqrt(2 * np.pi * z)
    return np.where(z > 1e7, series, special.ive(index, np.minimum(z, 1e7)))


def crowded(t):
    """Quadrature on (0, t), crowded at both ends, where Kim's integrand behaves as a square root."""
    angle, w = gauss(0, np.pi / 2, 100)
    return t * np.sin(angle) ** 2, w * t * np.sin(2 * angle)


def exercise_boundary(strike, rate, maturity, above):
    """The boundary as a function of the time to expiry: log(boundary / strike)^2 is a polynomial in that time's root,
    through 21 points. The boundary is strike N / D, repeated until it stands still (Andersen, Lake and Offengenden,
    2016): every term of N and D is a probability, so nothing cancels."""
    points = (1 - np.cos(np.pi * np.arange(21) / 20)) / 2

    def through(squares):
        series = chebyshev.chebfit(2 * points - 1, squares, 20)
        square = lambda t: np.maximum(chebyshev.chebval(2 * np.sqrt(t / maturity) - 1, series), 0)
        return lambda t: strike * np.exp(-np.sqrt(square(t)))

    def next_square(boundary, t):
        u, w = crowded(t)
        cash, asset = above(boundary(t), strike, t)
        inside = np.exp(-rate * u) * above(boundary(t), boundary(t - u), u)[0]
        return np.log(min((np.exp(-rate * t) * cash + rate * (w @ inside)) / asset, 1)) ** 2

    squares, change = 0.06 * (np.sqrt(maturity) * points) ** 1.8, 1.0
    while change > 1e-12:
        boundary = through(squares)
        new = np.array([0.0] + [next_square(boundary, maturity * p * p) for p in points[1:]])
        squares, change = new, np.max(np.abs(new - squares))
    return through(squares)


def american_puts(strike, rate, maturity, above, spots):
    """Kim (1990): the European put, and interest on the strike as long as the price is below the boundary. above(spot,
    level, t) is P(S(t) > level), plain and weighted by S(t) / E S(t)."""
    boundary = exercise_boundary(strike, rate, maturity, above)
    u, w = crowded(maturity)
    for spot in spots:
        cash, asset = above(spot, strike, maturity)
        below = 1 - above(spot, boundary(maturity - u), u)[0]
        european = strike * np.exp(-rate * maturity) * (1 - cash) - spot * (1 - asset)
        alive = european + w @ (rate * strike * np.exp(-rate * u) * below)
        yield alive if spot > boundary(maturity) else strike - spot


# Second way: finite differences, five nested grids and Richardson's extrapolation: 1.5e-6 apart at spot 80, just above
# the boundary at 79.733, 2.2e-7 at most elsewhere. 33 points instead of 21 move the puts by 2e-8 at most.
def cev_american(beta, sigma, rate, maturity, strike, spots):
    """The density is that of the absorbed Bessel process S^(1 - beta) / scale; integrated, rather than from the
    distribution function, short times and small tails keep their digits."""
    index, k = 1 / (2 * (1 - beta)), 2 * rate * (1 - beta)

    def above(spot, level, t):
        scale = sigma * (1 - beta) * np.sqrt(-np.expm1(-k * t) / k)
        start = (spot ** (1 - beta) / scale)[..., None]
        end = ((level * np.exp(-rate * t)) ** (1 - beta) / scale)[..., None]
        low = np.clip(end, np.maximum(start - 10, 0), start + 11)
        x, w = gauss(low, start + 12, 64)
        density = start**index * x ** (1 - index) * np.exp(-((x - start) ** 2) / 2) * scaled_bessel(index, x * start)
        return (w * density).sum(-1), (w * density * (x / start) ** (2 * index)).sum(-1)

    return american_puts(strike, rate, maturity, above, spots)


# Second way: finite differences with the moving exercise value itself: 9.2e-8 apart at most. QuantLib's QdFp: 5e-9.
def growing_put(volatility, rate, maturity, strike, growth, spots):
    """The holder may take strike exp(growth t) - S. In S exp(-growth t) and V exp(-growth t) this is the usual put
    under the rate less the growth."""
    def above(spot, level, t):
        deviation = volatility * np.sqrt(t)
        d = (np.log(spot / level) + (rate - growth) * t) / deviation
        return special.ndtr(d - deviation / 2), special.ndtr(d + deviation / 2)

    return american_puts(strike, rate - growth, maturity, above, spots)


def step(x, v, t, dt, rate, dividend, theta):
    """A step of length dt with the coefficients at time t: explicit with theta 0, implicit with theta 1. At the ends
    V_xx = 0 and the slope is one-sided."""
    h, drift = np.diff(x), (rate - dividend) * x
    left, right, both = h[:-1], h[1:], h[:-1] + h[1:]
    twice = (0.15 * x + 0.1 * np.exp(-2 * t) * 10 * np.sqrt(x)) ** 2  # diffusions; so written, 0 does no harm
    below, above = np.zeros_like(x), np.zeros_like(x)
    below[1:-1] = (twice[1:-1] - drift[1:-1] * right) / (left * both)
    above[1:-1] = (twice[1:-1] + drift[1:-1] * left) / (right * both)
    above[0], below[-1] = drift[0] / h[0], -drift[-1] / h[-1]
    middle = -rate - below - above
    change = middle * v
    change[1:] += below[1:] * v[:-1]
    change[:-1] += above[:-1] * v[1:]
    upper, lower = np.roll(above, 1), np.roll(below, -1)  # as the solver wants them
    system = -theta * dt * np.array([upper, middle, lower]) + [[0], [1], [0]]
    return solve_banded((1, 1), system, v + (1 - theta) * dt * change)


# Second way: Dupire's (1994) forward equation in the strike, a march for each spot: 2.4e-9 apart at most.
def surface(rate, dividend, maturity, strike, spots):
    """A call under the volatility 0.15 + 0.1 exp(-2 t) (100 / S)^(1/2), by Crank and Nicolson, first four implicit half
    steps against the kink, and Richardson's extrapolation; twice the spacing gives the same to 1.7e-9."""
    found, spread = [], np.arcsinh(strike / 30) / 200
    for many in (16, 32):
        # Dense near the strike, which is a point: that leaves the error a power series in the spacing.
        x = strike + 30 * np.sinh(spread * np.arange(-200 * many, 401 * many + 1) / many)
        x[0] = 0
        v, dt = np.maximum(x - strike, 0), maturity / (100 * many)
        for n in range(4):
            v = step(x, v, maturity - (n + 1) * dt / 2, dt / 2, rate, dividend, 1)
        for n in range(2, 100 * many):
            v = step(x, v, maturity - (n + 0.5) * dt, dt, rate, dividend, 0.5)
        near = [slice(i - 3, i + 3) for i in np.searchsorted(x, spots)]
        found.append([barycentric_interpolate(x[six], v[six], spot) for six, spot in zip(near, spots)])
    return [(4 * fine - rough) / 3 for rough, fine in zip(*found)]


# Second way: the payoff times score weights, integrated over the normal distribution: 1e-49 apart.
def stock(volatility, rate, maturity, strike, spot):
    """Call, delta and gamma."""
    deviation = volatility * mp.sqrt(maturity)
    d = (mp.log(spot / strike) + rate * maturity) / deviation + deviation / 2
    call = spot * mp.ncdf(d) - strike * mp.exp(-rate * maturity) * mp.ncdf(d - deviation)
    return call, mp.ncdf(d), mp.npdf(d) / (spot * deviation)


# Second way: the surviving density forward from date to date, then the payoff over it: 1e-12 apart at most.
def barrier_calls(volatility, rate, maturity, strike, barrier, spots):
    """Worthless at or above the barrier on any of four dates, equally far apart. From the last date back: the last leg
    in closed form, the others by quadrature over the logarithm of the price below the barrier."""
    leg = maturity / 4
    deviation, drift = volatility * np.sqrt(leg), (rate - volatility**2 / 2) * leg
    x, w = gauss(np.log(strike) - 3, np.log(barrier), 400)

    def earlier(start, v):
        z = (x[None, :] - start[:, None] - drift) / deviation
        return np.exp(-rate * leg) * (np.exp(-z * z / 2) / (deviation * np.sqrt(2 * np.pi))) @ (w * v)

    d, out = ((x - np.log(level) + drift) / deviation for level in (strike, barrier))
    asset = special.ndtr(d + deviation) - special.ndtr(out + deviation)
    v = np.exp(x) * asset - strike * np.exp(-rate * leg) * (special.ndtr(d) - special.ndtr(out))
    return earlier(np.log(spots), earlier(x, earlier(x, v)))


# Second way: three legs, each by quadrature: 3.2e-13 apart at most.
def dividends_call(volatility, rate, maturity, strike, spot):
    """2 % at maturity / 2, 3 in cash at 3/4 of it. Black and Scholes over the last leg; the first dividend only scales
    the price at 3/4, so one integral is left."""
    t, leg = 3 * maturity / 4, maturity / 4

    def integrand(z):
        growth = mp.exp((rate - volatility**2 / 2) * t + volatility * mp.sqrt(t) * z)
        left = mp.mpf("0.98") * spot * growth - 3
        return stock(volatility, rate, leg, strike, left)[0] * mp.npdf(z) if left > 0 else mp.mpf(0)

    with mp.workdps(20):  # enough, and quicker
        return mp.exp(-rate * t) * mp.quad(integrand, mp.linspace(-12, 12, 13))


def main():
    print("# Written by tests/model/fd1d.py")
    for beta, sigma in ((0.5, "2"), (0.7, repr(0.25 * 100**0.3))):
        for maturity in ("1", "0.25"):
            for dividend in ("0", "0.02"):
                exactly("cev", cev, f"{beta} {sigma} 0.05 {dividend} {maturity} 100", SPOTS)
    exactly("cev", cev, "0.5 8 0.05 0 1 100", SPOTS)  # absorbed in 2 to 8 of 100 cases, the others next to never
    in_doubles("cev_american", cev_american, "0.5 2 0.05 1 100", "80 85 90 95 100 110 120", 8)
    rates = "-0.01 0 0.02 0.05"
    exactly("vasicek", vasicek, "0.3 0.04 0.012 5", rates)
    exactly("vasicek_option", vasicek_option, "0.3 0.04 0.012 1 5 0.87", rates)
    exactly("vasicek_coupon", vasicek_coupon, "0.3 0.04 0.012 5 0.03", rates)
    for sigma in ("0.1", "0.25"):  # Feller's condition, 2 kappa mean > sigma^2, holds for the first alone
        exactly("cir", cir, f"0.3 0.04 {sigma} 5", "0 0.01 0.04 0.08")
        exactly("cir_option", cir_option, f"0.3 0.04 {sigma} 1 5 0.87", "0 0.01 0.04 0.08")
    in_doubles("growing_put", growing_put, "0.2 0.05 1 100 0.03", SPOTS, 8)
    in_doubles("surface", surface, "0.03 0.01 1 100", SPOTS, 8)
    exactly("stock", stock, "0.2 0.05 1 100", "100")
    in_doubles("barrier", barrier_calls, "0.2 0.05 1 100 130", "90 100 110 120", 12)
    exactly("dividends", dividends_call, "0.2 0.05 1 100", SPOTS)


if __name__ == "__main__":
    main()
