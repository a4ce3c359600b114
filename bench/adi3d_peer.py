"""adi3d_peer.py - pde/adi3d.h on the host beside QuantLib's finite differences for Heston's model with a Hull-White
rate, at equal accuracy. MIT licence, see LICENSE.

    python3 -m pip install QuantLib
    gcc -std=gnu11 -O3 -march=native -fopenmp -shared -fPIC -I. -o adi3d_peer.so bench/adi3d_peer.c -lm
    python3 bench/adi3d_peer.py ./adi3d_peer.so "gcc -O3 -march=native" FILE

The call of examples/adi3d_heston_hw.cu, with three strikes, whose prices are known (tests/model/heston_hw.py), by
Hundsdorfer and Verwer's scheme with a start of four half steps, each on one thread. Of the grids (SIZES, with half as
many points along the variance and a quarter along the rate) and STEPS, each method is given the pair with the fewest
points times steps whose largest error over the strikes is within a tolerance. The time is the median processor time of
a few runs that compute one price. QuantLib has its own points and its own theta, and works in log prices and in double
precision. Its discount curve is that of Vasicek's model, so its Hull-White rate follows Vasicek's model too."""
import ctypes
import functools
import math
import sys
import time

import QuantLib as ql

KNOWN = {90.0: 16.1863116871, 100.0: 9.6614579601, 110.0: 4.9717511930}
KAPPA, MEAN, SIGMA, RHO, VARIANCE = 2.0, 0.04, 0.3, -0.6, 0.04
SPEED, LEVEL, SPREAD, RATE = 1.0, 0.05, 0.02, 0.03
SIZES, STEPS = (24, 32, 48, 64, 96, 128), (5, 7, 10, 14, 20, 28, 40, 56, 80)
TOLERANCES, HALVES = (3e-2, 1e-2), 4


def bond(t):
    b = -math.expm1(-SPEED * t) / SPEED
    return math.exp((b - t) * (LEVEL - SPREAD**2 / (2 * SPEED**2)) - SPREAD**2 * b**2 / (4 * SPEED) - b * RATE)


def quantlib(strike, nx, ny, nz, steps):
    today = ql.Date(2, 1, 2023)  # 365 days to maturity: a year
    ql.Settings.instance().evaluationDate = today
    days = ql.Actual365Fixed()
    dates = [today + day for day in range(0, 400)]
    curve = ql.YieldTermStructureHandle(ql.DiscountCurve(dates, [bond(day / 365) for day in range(0, 400)], days))
    none = ql.YieldTermStructureHandle(ql.FlatForward(today, 0.0, days))
    spot = ql.QuoteHandle(ql.SimpleQuote(100.0))
    heston = ql.HestonModel(ql.HestonProcess(curve, none, spot, VARIANCE, KAPPA, MEAN, SIGMA, RHO))
    rate = ql.HullWhiteProcess(curve, SPEED, SPREAD)
    call = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Call, strike), ql.EuropeanExercise(today + 365))
    call.setPricingEngine(ql.FdHestonHullWhiteVanillaEngine(heston, rate, 0.0, steps, nx, ny, nz, HALVES // 2, False,
                                                            ql.FdmSchemeDesc.Hundsdorfer()))
    return call.NPV()


def remembered(price):
    """Returns a function of strike, points along x and steps that gives (price, seconds), and computes each once."""
    @functools.cache
    def priced(strike, n, steps):
        start = time.process_time()
        value = price(strike, n, n // 2, n // 4, steps)
        return value, time.process_time() - start
    return priced


def largest(priced, n, steps, tolerance):
    """Returns the largest error over the strikes, or the first beyond the tolerance."""
    worst = 0.0
    for strike, known in KNOWN.items():
        worst = max(worst, abs(priced(strike, n, steps)[0] - known))
        if not worst <= tolerance:
            break
    return worst


def cheapest(priced, tolerance):
    """Returns points along x, steps and largest error of the cheapest grid within the tolerance, or None."""
    best, least = None, math.inf
    for n in SIZES:
        if n**3 * STEPS[0] >= least or not largest(priced, n, STEPS[-1], tolerance) <= tolerance:
            continue
        steps = next(k for k in STEPS if largest(priced, n, k, tolerance) <= tolerance)
        if n**3 * steps < least:
            best, least = (n, steps, largest(priced, n, steps, tolerance)), n**3 * steps
    return best


def median_seconds(price, n, steps, first):
    times = 3 if first > 2 else 9
    taken = []
    for _ in range(times):
        start = time.process_time()
        price(100.0, n, n // 2, n // 4, steps)
        taken.append(time.process_time() - start)
    return sorted(taken)[times // 2]


def processor():
    with open("/proc/cpuinfo") as lines:
        names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
        return next(names, "unknown processor")


def main():
    kit = ctypes.CDLL(sys.argv[1])
    kit.price.restype = ctypes.c_double
    prices = [("quantlib", "f64", quantlib)]
    for single, precision in enumerate(("f64", "f32")):
        prices.append(("adi3d", precision,
                       lambda strike, *of, s=single: kit.price(ctypes.c_double(strike), *of, HALVES, 1, s)))
    memory = [remembered(price) for _, _, price in prices]
    with open(sys.argv[3], "w") as out:
        out.write(f"# {processor()}, {sys.argv[2]}, QuantLib {ql.__version__}, {time.strftime('%Y-%m-%d')}\n")
        out.write("tolerance,method,precision,nx,ny,nz,steps,largest_error,ms,times_faster\n")
        for tolerance in TOLERANCES:
            first = None
            for (method, precision, price), priced in zip(prices, memory):
                found = cheapest(priced, tolerance)
                if not found:
                    out.write(f"{tolerance:.0e},{method},{precision},-,-,-,-,-,-,not reached\n")
                    continue
                n, steps, error = found
                taken = median_seconds(price, n, steps, priced(100.0, n, steps)[1])
                first = first or taken
                out.write(f"{tolerance:.0e},{method},{precision},{n},{n // 2},{n // 4},{steps},{error:.1e},"
                          f"{1e3 * taken:.4g},{first / taken:.3g}\n")
                out.flush()


main()
