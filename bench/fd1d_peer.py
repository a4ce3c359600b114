"""fd1d_peer.py - pde/fd1d.h and pde/adi2d.h on the host beside QuantLib's finite differences, at equal accuracy.
MIT licence, see LICENSE.

    python3 -m pip install QuantLib
    gcc -std=gnu11 -O3 -march=native -shared -fPIC -I. -o fd1d_peer.so bench/fd1d_peer.c -lm
    python3 bench/fd1d_peer.py ./fd1d_peer.so "gcc -O3 -march=native" FILE

Prices options of several strikes at spot 100, in double precision on one thread. For each method and tolerance, finds
the cheapest grid and number of steps, by points times steps, whose largest error over the strikes is within the
tolerance. Grids and numbers of steps are tried in powers of the root of 2. How many steps a grid needs is predicted
from prices with few steps, in the same way for both methods. The cheapest prediction is then priced and, if a strike is
off by more than the tolerance, the next one, until all strikes are within it. Only prices count, never predictions. The
whole run takes about half an hour of processor time.
Times are per price: the least processor time of seven repeats, with the methods in turn. What takes more than LONG
seconds a price is timed only once, in the search. QuantLib's engines have their default settings and grids of log
prices. For one factor the kit has two rows: one option a call, and a batch in one call.

The references are closed forms; QuantLib's integral equation (QdFp) for the American put in the Black-Scholes model;
and much finer grids of both methods, extrapolated, for the volatility surface and for the American put in Heston's
model. The first lines of FILE say how far apart the two methods are there and, for Heston's model, how far their mean
is from the scaled prices of Ikonen and Toivanen (2008), which are too rough for 1e-4."""
import ctypes
import math
import sys
import time

import QuantLib as ql

PRICES, TIMES, BATCH = 101, 53, 8
REPEATS, LONG = 7, 20  # how often a price is timed, if it takes less than LONG seconds
COLUMNS = "option,tolerance,method,nx,ny,steps,price,error,ms,times_faster"
MODELS = ("Black-Scholes", "surface", "Heston")
STRIKES = ([80.0, 90.0, 100.0, 110.0, 120.0],) * 2 + ([1000 / 11, 100.0, 1000 / 9],)
PUBLISHED = [0.21368 * 100 / 11, 0.52004 * 10, 1.10763 * 100 / 9]  # American, v = 0.0625; spot 11, 10, 9 and strike 10
HEAVY = 10 ** 9  # points times steps: a case that takes minutes
# By model: the points of the coarser of two grids, and the tolerance of the predictions on both.
FAR = {1: (501, 1, 1e-6), 2: (566, 141, 1e-5)}
# By whether there are two factors: the most points in x for QuantLib and for the kit.
MOST = {False: (6400, 1024), True: (1600, 1600)}
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


def options(case, strikes, engine):
    model, put, american = case
    end = TODAY + ql.Period(3 if model == 2 else 12, ql.Months)
    made = []
    for strike in strikes:
        exercise = ql.AmericanExercise(TODAY, end) if american else ql.EuropeanExercise(end)
        payoff = ql.PlainVanillaPayoff(ql.Option.Put if put else ql.Option.Call, strike)
        made.append(ql.VanillaOption(payoff, exercise))
        made[-1].setPricingEngine(engine)
    return made


def quantlib(case, process, strikes, nx, ny, steps):
    """Returns a function that prices all strikes anew."""
    if case[0] == 2:
        engine = ql.FdHestonVanillaEngine(process[2], steps, nx, ny)
    else:
        engine = ql.FdBlackScholesVanillaEngine(process[case[0]], steps, nx, 0, ql.FdmSchemeDesc.Douglas(),
                                                case[0] == 1)
    made = options(case, strikes, engine)

    def price():
        for option in made:
            option.recalculate()
        return [option.NPV() for option in made]
    return price


def kit(case, library, strikes, nx, ny, steps, batch=0):
    """Likewise, by the kit: in one call with `batch` options of each strike or, if batch is 0, in a call per strike."""
    table = (ctypes.c_double * (PRICES * TIMES))(*(entry for row in TABLE for entry in row))
    calls = [strikes * batch] if batch else [[strike] for strike in strikes]
    rooms = [((ctypes.c_double * len(some))(*some), (ctypes.c_double * len(some))()) for some in calls]

    def price():
        for strike, value in rooms:
            if library.prices(*case, len(strike), strike, table, nx, ny, steps, value):
                raise RuntimeError("the kit refused a problem")
        return [value for _, values in rooms for value in values][:len(strikes)]
    return price


def largest(prices, known):
    return max(abs(a - b) for a, b in zip(prices, known))


def predict(by, strikes, nx, ny, good, most=math.inf):
    """Returns the prices that infinitely many steps would give on this grid, and a function that predicts the prices of
    any number of steps; None if that takes more than `most` steps.

    Each doubling of the steps moves a price by a fraction of the previous move: by a half, if errors are of first
    order. The steps are doubled until this rule predicts the next prices to within `good`."""
    rough, middle, steps = by(strikes, nx, ny, STEPS[0])(), by(strikes, nx, ny, 2 * STEPS[0])(), 2 * STEPS[0]
    expected = [math.inf] * len(strikes)
    while True:
        steps *= 2
        if steps > most:
            return None
        fine = by(strikes, nx, ny, steps)()
        # Orders between a half and two, so that an accidental ratio is not extrapolated.
        fraction = [min(max((f - m) / (m - r), 0.25), 0.71) if m != r else 0.25 for r, m, f in zip(rough, middle, fine)]
        if largest(fine, expected) <= good:
            break
        expected = [f + (f - m) * part for m, f, part in zip(middle, fine, fraction)]
        rough, middle = middle, fine
    left = [(f - m) * part / (1 - part) for m, f, part in zip(middle, fine, fraction)]
    limit = [f + more for f, more in zip(fine, left)]

    def predicted(many):
        return [end - more * part ** math.log2(many / steps) for end, more, part in zip(limit, left, fraction)]
    return limit, predicted


def extrapolated(by, strikes, nx, ny, good):
    """Returns prices extrapolated from infinitely many steps on a grid and on one with twice the points on each axis.
    Errors are of second order in the spacing."""
    rough, fine = (predict(by, strikes, nx * times, ny * times if ny > 1 else 1, good)[0] for times in (1, 2))
    return [(4 * f - r) / 3 for r, f in zip(rough, fine)]


def reference(case, process, price_by):
    """Returns the prices, and a remark on how far apart the two methods are where the prices come from these."""
    model, _, american = case
    strikes = STRIKES[model]
    if model == 1 or model == 2 and american:
        far = [extrapolated(by, strikes, *FAR[model]) for by in price_by]
        remark = f"the far finer grids of the two are {largest(*far):.1e} apart"
        known = [sum(both) / 2 for both in zip(*far)]
        if model == 2:
            remark += f", their mean {largest(known, PUBLISHED):.1e} from the published prices"
        return known, remark
    if model == 2:
        engine = ql.AnalyticHestonEngine(process[2], 192)
    else:
        engine = (ql.QdFpAmericanEngine(process[0], ql.QdFpAmericanEngine.highPrecisionScheme()) if american
                  else ql.AnalyticEuropeanEngine(process[0]))
    return [option.NPV() for option in options(case, strikes, engine)], None


def ladder(first, last):
    return [round(first * 2 ** (k / 2)) for k in range(1 + math.floor(2 * math.log2(last / first)))]


STEPS = ladder(8, 32768)


def grids(two, most, last):
    """Returns all grids, ordered by their points, with no fewer points in x than the previous tolerance needed."""
    sizes = [nx for nx in ladder(25, most) if nx >= last]
    pairs = [(nx, nx // part) for nx in sizes for part in (4, 2)] if two else [(nx, 1) for nx in sizes]
    return sorted(pairs, key=lambda grid: grid[0] * grid[1])


def cheapest(by, known, strikes, tolerance, grids, predictions, wrong):
    """Returns the cheapest grid and number of steps, and their predicted errors; None if there are none. The errors are
    within the tolerance, or up to a tenth above it unless the case is HEAVY. Cases in `wrong` are left out.

    Stops at the first grid that would cost more even with the fewest steps that the error in time allows."""
    best, least, needed = None, math.inf, STEPS[0]
    for nx, ny in grids:
        if nx * ny * needed >= least:
            break
        most = min(STEPS[-1], least / (nx * ny))
        prediction = predictions.get((nx, ny)) or predict(by, strikes, nx, ny, tolerance / 10, most)
        if not prediction:
            continue
        predictions[nx, ny] = limit, predicted = prediction
        needed = next((steps for steps in STEPS if largest(predicted(steps), limit) <= tolerance), STEPS[-1])
        for steps in STEPS:
            errors, work = [abs(a - b) for a, b in zip(predicted(steps), known)], nx * ny * steps
            near = max(errors) <= (1.1 if work < HEAVY else 1) * tolerance
            if near and work < least and (nx, ny, steps) not in wrong:
                best, least = ((nx, ny, steps), errors), work
    return best


def confirmed(by, known, strikes, tolerance, grid, errors):
    """Prices the strikes, that with the largest predicted error first. Returns the prices and the seconds of one; None
    as soon as a price is off by more than the tolerance."""
    prices, seconds = [0.0] * len(strikes), 0
    for k in sorted(range(len(strikes)), key=lambda k: -errors[k]):
        price = by(strikes[k:k + 1], *grid)
        start = time.process_time()
        prices[k], = price()
        seconds += time.process_time() - start
        if abs(prices[k] - known[k]) > tolerance:
            return None
    return prices, seconds / len(strikes)


def search(by, known, strikes, tolerance, grids):
    """Returns the cheapest grid and number of steps whose prices are within the tolerance, and what confirmed() returns
    for them; None if there are none."""
    predictions, wrong = {}, set()
    while best := cheapest(by, known, strikes, tolerance, grids, predictions, wrong):
        grid, errors = best
        right = confirmed(by, known, strikes, tolerance, grid, errors)
        if right:
            return grid, right
        wrong.add(grid)
    return None


def least_times(calls):
    """Returns the seconds of each call: the least of REPEATS repeats, with the calls in turn."""
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


def compare(by, names, known, strikes, found):
    """Returns the ends of the lines of one tolerance. A third method is the second one in batches."""
    found = found + found[1:] * (len(names) - 2)
    calls = [one(strikes, *grid) for one, (grid, _) in zip(by, found)]
    prices, seconds = map(list, zip(*(right for _, right in found)))
    short = [k for k in range(len(names)) if seconds[k] < LONG]
    for k, taken in zip(short, least_times([calls[k] for k in short])):
        prices[k], seconds[k] = calls[k](), taken / (len(strikes) * (BATCH if k > 1 else 1))
    return [f"{name},{','.join(map(str, grid))},{price[strikes.index(100.0)]:.5f},{largest(price, known):.1e},"
            f"{1e3 * taken:.4g},{seconds[0] / taken:.3g}"
            for name, (grid, _), price, taken in zip(names, found, prices, seconds)]


def main():
    library, process = ctypes.CDLL(sys.argv[1]), processes()
    head, rows = [f"# {processor()}, {sys.argv[2]}, QuantLib {ql.__version__}, {time.strftime('%Y-%m-%d')}"], []
    for case in CASES:
        two, strikes = case[0] == 2, STRIKES[case[0]]
        names = ("quantlib", "adi2d") if two else ("quantlib", "fd1d", "fd1d batch")
        by = (lambda *of: quantlib(case, process, *of), lambda *of: kit(case, library, *of),
              lambda *of: kit(case, library, *of, BATCH))
        what = f"{MODELS[case[0]]} {'American' if case[2] else 'European'} {'put' if case[1] else 'call'}"
        known, remark = reference(case, process, by[:2])
        if remark:
            head.append(f"# {what}: {remark}")
        last = [0, 0]
        for tolerance in (1e-2, 1e-3, 1e-4):
            found = [search(one, known, strikes, tolerance, grids(two, most, nx))
                     for one, most, nx in zip(by, MOST[two], last)]
            if None in found:
                lines = [",".join(["not reached"] + ["-"] * 7)]
            else:
                lines, last = compare(by, names, known, strikes, found), [grid[0] for grid, _ in found]
            rows += [f"{what},{tolerance:.0e},{line}" for line in lines]
            with open(sys.argv[3], "w") as out:  # the rows so far, since the next ones take long
                out.write("\n".join(head + [COLUMNS] + rows) + "\n")


main()
