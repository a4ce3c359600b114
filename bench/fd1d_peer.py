"""fd1d_peer.py - pde/fd1d.h and pde/adi2d.h on the host beside QuantLib's finite differences, at equal accuracy.
MIT licence, see LICENSE.

    python3 -m pip install QuantLib
    gcc -std=gnu11 -O3 -march=native -shared -fPIC -I. -o fd1d_peer.so bench/fd1d_peer.c -lm
    python3 bench/fd1d_peer.py ./fd1d_peer.so "gcc -O3 -march=native" FILE

Options of several strikes at spot 100, in double precision on one thread. Each method is given the fewest points times
steps whose largest error over the strikes is within a tolerance; grids and steps are tried in powers of the root of 2.
All of it takes 12 minutes.
The time is a price's: the least of seven repeats of processor time, the methods in turn. QuantLib's engines have their
defaults and log prices; pde/fd1d.h solves one option a call, and a batch, by the vector.

References: closed forms; QuantLib's integral equation (QdFp) for the American put of Black and Scholes; Ikonen and
Toivanen (2008) for that of Heston, scaled; far finer grids of both methods, extrapolated, for the surface. A first line
says how far apart these two are."""
import ctypes
import math
import sys
import time

import QuantLib as ql

PRICES, TIMES, BATCH, REPEATS = 101, 53, 8, 7
COLUMNS = "option,tolerance,method,nx,ny,steps,price,error,ms,times_faster"
MODELS = ("Black-Scholes", "surface", "Heston")
STRIKES = ([80.0, 90.0, 100.0, 110.0, 120.0],) * 2 + ([1000 / 11, 100.0, 1000 / 9],)
KNOWN = [0.21368 * 100 / 11, 0.52004 * 10, 1.10763 * 100 / 9]  # American puts, v = 0.0625; spot 11, 10, 9 and strike 10
CASES = ((0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1), (2, 1, 0), (2, 1, 1))  # model, put, American
# The volatility of tests/model/fd1d.py, bounded at low prices, in a table.
TABLE = [[0.15 + 0.1 * math.exp(-2 * t / (TIMES - 1)) * math.sqrt(100 / max(5.0 * k, 20)) for k in range(PRICES)]
         for t in range(TIMES)]

DAYS = ql.Thirty360(ql.Thirty360.BondBasis)
TODAY = ql.Date(2, 1, 2023)
ql.Settings.instance().evaluationDate = TODAY


def flat(rate):
    return ql.YieldTermStructureHandle(ql.FlatForward(TODAY, rate, DAYS))


def processes():
    spot = ql.QuoteHandle(ql.SimpleQuote(100.0))
    vol = ql.BlackVolTermStructureHandle(ql.BlackConstantVol(TODAY, ql.NullCalendar(), 0.2, DAYS))
    matrix = ql.Matrix(PRICES, TIMES)
    for t in range(TIMES):
        for k in range(PRICES):
            matrix[k][t] = TABLE[t][k]
    local = ql.FixedLocalVolSurface(TODAY, [t / (TIMES - 1) for t in range(TIMES)], [5.0 * k for k in range(PRICES)],
                                    matrix, DAYS)
    return (ql.BlackScholesMertonProcess(spot, flat(0.0), flat(0.05), vol),
            ql.GeneralizedBlackScholesProcess(spot, flat(0.0), flat(0.03), vol, ql.LocalVolTermStructureHandle(local)),
            ql.HestonModel(ql.HestonProcess(flat(0.1), flat(0.0), spot, 0.0625, 5.0, 0.16, 0.9, 0.1)))


def options(case, engine):
    model, put, american = case
    end = TODAY + ql.Period(3 if model == 2 else 12, ql.Months)
    made = []
    for strike in STRIKES[model]:
        exercise = ql.AmericanExercise(TODAY, end) if american else ql.EuropeanExercise(end)
        payoff = ql.PlainVanillaPayoff(ql.Option.Put if put else ql.Option.Call, strike)
        made.append(ql.VanillaOption(payoff, exercise))
        made[-1].setPricingEngine(engine)
    return made


def quantlib(case, process, nx, ny, steps):
    """A function that prices all strikes anew."""
    if case[0] == 2:
        engine = ql.FdHestonVanillaEngine(process[2], steps, nx, ny)
    else:
        engine = ql.FdBlackScholesVanillaEngine(process[case[0]], steps, nx, 0, ql.FdmSchemeDesc.Douglas(),
                                                case[0] == 1)
    made = options(case, engine)

    def price():
        for option in made:
            option.recalculate()
        return [option.NPV() for option in made]
    return price


def kit(case, library, nx, ny, steps, batch=0):
    """Likewise; as a batch of so many of each strike, or each strike by itself."""
    table = (ctypes.c_double * (PRICES * TIMES))(*(entry for row in TABLE for entry in row))
    strikes = STRIKES[case[0]]
    calls = [strikes * batch] if batch else [[strike] for strike in strikes]
    rooms = [((ctypes.c_double * len(some))(*some), (ctypes.c_double * len(some))()) for some in calls]

    def price():
        for strike, value in rooms:
            if library.prices(*case, len(strike), strike, table, nx, ny, steps, value):
                raise RuntimeError("the kit refused a problem")
        return [value for _, values in rooms for value in values][:len(strikes)]
    return price


def reference(case, process, price_by):
    """The prices, and how far the two methods are apart where it is theirs."""
    model, _, american = case
    if model == 0:
        engine = (ql.QdFpAmericanEngine(process[0], ql.QdFpAmericanEngine.highPrecisionScheme()) if american
                  else ql.AnalyticEuropeanEngine(process[0]))
    if model == 2:
        if american:
            return KNOWN, 0
        engine = ql.AnalyticHestonEngine(process[2], 192)
    if model != 1:
        return [option.NPV() for option in options(case, engine)], 0
    far = []
    for by in price_by:  # errors of first order in the step, or less, and of second in the spacing: a quarter each time
        rough, fine = by(501, 0, 2000)(), by(1001, 0, 8000)()
        far.append([(4 * f - r) / 3 for r, f in zip(rough, fine)])
    return [sum(both) / 2 for both in zip(*far)], max(abs(a - b) for a, b in zip(*far))


def ladder(first, last):
    return [round(first * 2 ** (k / 2)) for k in range(1 + math.floor(2 * math.log2(last / first)))]


def search(by, known, tolerance, two, most, last):
    """The cheapest grid and steps, and the largest error there; None if there is none. Not fewer points than last."""
    grids = [(nx, nx // part if two else 1) for nx in ladder(25, most) for part in ((4, 2) if two else (1,))
             if not last or nx >= last[0]]
    best, least = None, math.inf
    for nx, ny in sorted(grids, key=lambda grid: grid[0] * grid[1]):
        errors = []
        for steps in ladder(8, 32768):
            if nx * ny * steps >= least:
                break
            errors.append(max(abs(a - b) for a, b in zip(by(nx, ny, steps)(), known)))
            if errors[-1] <= tolerance:
                best, least = (nx, ny, steps, errors[-1]), nx * ny * steps
                break
            if len(errors) > 4 and abs(errors[-1] / errors[-3] - 1) < 0.05:  # the steps no longer matter
                break
    return best


def least_times(calls):
    """Seconds of each, in turn: the least of some repeats."""
    rounds, least = [], [math.inf] * len(calls)
    for call in calls:
        start = time.process_time()
        call()
        rounds.append(1 + int(0.02 / max(time.process_time() - start, 1e-6)))
    for _ in range(REPEATS):
        for k, call in enumerate(calls):
            start = time.process_time()
            for _ in range(rounds[k]):
                call()
            least[k] = min(least[k], (time.process_time() - start) / rounds[k])
    return least


def processor():
    with open("/proc/cpuinfo") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def main():
    library, process = ctypes.CDLL(sys.argv[1]), processes()
    head, rows = [f"# {processor()}, {sys.argv[2]}, QuantLib {ql.__version__}, {time.strftime('%Y-%m-%d')}"], []
    for case in CASES:
        two = case[0] == 2
        by = [lambda *grid: quantlib(case, process, *grid), lambda *grid: kit(case, library, *grid)]
        known, apart = reference(case, process, by)
        what = f"{MODELS[case[0]]} {'American' if case[2] else 'European'} {'put' if case[1] else 'call'}"
        if apart:
            head.append(f"# {what}: the far finer grids of the two are {apart:.1e} apart")
        found = [None, None]
        for tolerance in (1e-2, 1e-3) if two or case == (1, 1, 1) else (1e-2, 1e-3, 1e-4):
            found = [search(one, known, tolerance, two, most, last)
                     for one, most, last in zip(by, (800, 800) if two else (6400, 1024), found)]
            if None in found:
                rows.append(f"{what},{tolerance:.0e}," + ",".join(["not reached"] + ["-"] * 7))
                continue
            names, grids = ["quantlib", "adi2d" if two else "fd1d"], list(found)
            calls, priced = [one(*grid[:3]) for one, grid in zip(by, found)], [len(known)] * 2
            if not two:
                names.append("fd1d batch")
                grids.append(found[1])
                calls.append(kit(case, library, *found[1][:3], BATCH))
                priced.append(len(known) * BATCH)
            seconds = [taken / many for taken, many in zip(least_times(calls), priced)]
            for name, (nx, ny, steps, error), call, taken in zip(names, grids, calls, seconds):
                price = call()[STRIKES[case[0]].index(100.0)]
                rows.append(f"{what},{tolerance:.0e},{name},{nx},{ny},{steps},{price:.5f},{error:.1e},"
                            f"{1e3 * taken:.4g},{seconds[0] / taken:.3g}")
        with open(sys.argv[3], "w") as out:  # what there is so far
            out.write("\n".join(head + [COLUMNS] + rows) + "\n")


main()
