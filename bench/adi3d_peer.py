"""adi3d_peer.py - pde/adi3d.h on the host beside QuantLib's finite differences for Heston's model with a Hull-White rate.
MIT licence, see LICENSE.

    python3 -m pip install QuantLib
    gcc -std=gnu11 -O3 -march=native -fopenmp -shared -fPIC -I. -o adi3d_peer.so bench/adi3d_peer.c -lm
    python3 bench/adi3d_peer.py ./adi3d_peer.so "gcc -O3 -march=native" FILE

The call of examples/adi3d_heston_hw.cu, whose price is known (tests/model/heston_hw.py), by Hundsdorfer and Verwer's
scheme with a start of four half steps, on grids of the same sizes and as many steps, in turn, each on one thread;
medians of processor time. QuantLib has its own points and its own theta, and works in log prices and in double
precision. Its curve is Vasicek's, which makes its Hull-White rate Vasicek's."""
import ctypes
import math
import sys
import time

import QuantLib as ql

KNOWN = 9.6614579601
KAPPA, MEAN, SIGMA, RHO, VARIANCE = 2.0, 0.04, 0.3, -0.6, 0.04
SPEED, LEVEL, SPREAD, RATE = 1.0, 0.05, 0.02, 0.03
SIZES = ((48, 24, 12, 20), (96, 48, 24, 40), (192, 96, 48, 80))  # along price, variance and rate; steps
HALVES = 4


def bond(t):
    b = -math.expm1(-SPEED * t) / SPEED
    return math.exp((b - t) * (LEVEL - SPREAD**2 / (2 * SPEED**2)) - SPREAD**2 * b**2 / (4 * SPEED) - b * RATE)


def quantlib(nx, ny, nz, steps):
    today = ql.Date(2, 1, 2023)  # 365 days to maturity: a year
    ql.Settings.instance().evaluationDate = today
    days = ql.Actual365Fixed()
    dates = [today + day for day in range(0, 400)]
    curve = ql.YieldTermStructureHandle(ql.DiscountCurve(dates, [bond(day / 365) for day in range(0, 400)], days))
    none = ql.YieldTermStructureHandle(ql.FlatForward(today, 0.0, days))
    spot = ql.QuoteHandle(ql.SimpleQuote(100.0))
    heston = ql.HestonModel(ql.HestonProcess(curve, none, spot, VARIANCE, KAPPA, MEAN, SIGMA, RHO))
    rate = ql.HullWhiteProcess(curve, SPEED, SPREAD)
    call = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Call, 100.0), ql.EuropeanExercise(today + 365))
    call.setPricingEngine(ql.FdHestonHullWhiteVanillaEngine(heston, rate, 0.0, steps, nx, ny, nz, HALVES // 2, False,
                                                            ql.FdmSchemeDesc.Hundsdorfer()))
    return call.NPV()


def median_of(calls, times):
    """Seconds of each, in turn, and what they gave."""
    taken, given = [[] for _ in calls], [None] * len(calls)
    for _ in range(times):
        for k, call in enumerate(calls):
            start = time.process_time()
            given[k] = call()
            taken[k].append(time.process_time() - start)
    return [sorted(t)[len(t) // 2] for t in taken], given


def processor():
    with open("/proc/cpuinfo") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def main():
    kit = ctypes.CDLL(sys.argv[1])
    kit.price.restype = ctypes.c_double
    with open(sys.argv[3], "w") as out:
        out.write(f"# {processor()}, {sys.argv[2]}, QuantLib {ql.__version__}, {time.strftime('%Y-%m-%d')}\n")
        out.write("method,precision,nx,ny,nz,steps,ms,price,relative_error,times_faster\n")
        for size in SIZES:
            calls = [lambda: quantlib(*size)]
            names = [("quantlib", "f64"), ("adi3d", "f64"), ("adi3d", "f32")]
            for single in (0, 1):
                calls.append(lambda s=single: kit.price(*size, HALVES, 1, s))
            seconds, prices = median_of(calls, 9 if size[0] < 100 else 3)
            for (method, precision), taken, price in zip(names, seconds, prices):
                out.write(f"{method},{precision},{size[0]},{size[1]},{size[2]},{size[3]},{1e3 * taken:.4g},"
                          f"{price:.6f},{price / KNOWN - 1:.1e},{seconds[0] / taken:.3g}\n")
                out.flush()


main()
