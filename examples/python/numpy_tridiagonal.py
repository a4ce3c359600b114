"""numpy_tridiagonal.py - batches of tridiagonal systems in NumPy arrays, by cpu_avx.h through ctypes.
MIT licence, see LICENSE.

In the kit's folder, with gcc and NumPy (it also compares with SciPy, if that is installed):

    gcc -std=c11 -O3 -fopenmp -fPIC -shared -I. -o libtriband_cpu.so examples/python/cpu_library.c
    python3 examples/python/numpy_tridiagonal.py ./libtriband_cpu.so

Checks itself. Exits with 0 if all is well, 1 if not, 3 without NumPy. bench/python.py times it."""
import ctypes
import math
import os
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: numpy_tridiagonal.py: no NumPy here")
    sys.exit(3)
try:
    from scipy.linalg import solve_banded
except ImportError:
    solve_banded = None

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


class Lines(ctypes.Structure):
    """Where systems lie: element j of system s of group g at [j*step + s*stride + g*jump]; cpu_avx_lines in C."""
    _fields_ = [(name, ctypes.c_longlong) for name in ("n", "step", "systems", "stride", "groups", "jump")]


def load(path):
    library = ctypes.CDLL(os.path.abspath(path))
    lines, array, integer = ctypes.POINTER(Lines), ctypes.c_void_p, ctypes.c_int
    for name in ("f32", "f64"):
        for method, arrays in (("thomas", 6), ("solve", 4)):  # arrays, including the work space
            size = getattr(library, f"{method}_bytes_{name}")
            size.restype, size.argtypes = ctypes.c_size_t, [lines, integer]
            getattr(library, f"{method}_{name}").argtypes = [lines] + arrays * [array] + [integer]
        getattr(library, "factor_" + name).argtypes = [ctypes.c_longlong] + 4 * [array]
    library.instruction_set.restype = ctypes.c_char_p
    return library


NAMES = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}


def checked(*arrays):
    """Returns the precision of the arrays. The library sees only addresses, so dtypes and shapes are checked here."""
    last = arrays[-1]
    for v in arrays:
        if v.dtype not in NAMES:  # another byte order is another dtype
            raise TypeError(f"{v.dtype} is neither float32 nor float64 in this machine's byte order: "
                            "convert with .astype(np.float64)")
        if v.dtype != last.dtype:
            raise TypeError(f"{v.dtype} beside {last.dtype}: convert with .astype, so that all arrays have one dtype")
        if v.shape != last.shape:
            raise ValueError(f"shape {v.shape} beside {last.shape}: all arrays must have one shape")
    return NAMES[last.dtype]


def require(*arrays):
    return [np.require(v, requirements=("C", "A")) for v in arrays]


def call(library, method, matrix, d, axis, out, threads):
    """Solves by cpu_avx_thomas if matrix holds the arrays a, b, c, by cpu_avx_solve if it holds the factors."""
    x = np.empty_like(d) if out is None else out
    if threads < 1:
        raise ValueError(f"threads = {threads}: must be at least 1")
    name = checked(x, d)
    if not x.flags.carray:
        raise TypeError("out must be writeable, C-contiguous and aligned: pass np.empty_like(d)")
    n, axis = d.shape[axis], axis % d.ndim
    before, after = math.prod(d.shape[:axis]), math.prod(d.shape[axis + 1:])
    lines = Lines(n, after, after if before else 0, 1, before, n * after)  # groups = 0 would mean one group
    if after == 1:
        lines = Lines(n, 1, before, n, 1, 0)
    work = np.empty(getattr(library, f"{method}_bytes_{name}")(lines, threads), np.uint8)
    pointers = [v.ctypes.data for v in (*matrix, d, x, work)]
    status = getattr(library, f"{method}_{name}")(lines, *pointers, threads)
    if status > 0:
        raise np.linalg.LinAlgError(f"system {status - 1} met a pivot that is zero or not finite")
    if status < 0:
        raise ValueError(f"status {status}: see cpu_avx_status_string")
    return x


def solve(library, a, b, c, d, axis=-1, out=None, threads=THREADS):
    """Returns x, where a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j]. The index j runs along one axis of arrays of one
    shape and dtype (float32 or float64); each choice of the other indices is a system. Along any axis the systems
    are solved where they lie; nothing is transposed. Raises LinAlgError at a pivot that is zero or not finite."""
    a, b, c, d = require(a, b, c, d)
    checked(a, b, c, d)
    return call(library, "thomas", (a, b, c), d, axis, out, threads)


def factor(library, a, b, c):
    """Returns the factors of one matrix for solve_factored; a, b, c have n elements each. Raises LinAlgError as solve
    does."""
    a, b, c = require(a, b, c)
    f = np.empty((3, len(b)), b.dtype)
    name = checked(a, b, c, f[0])
    status = getattr(library, "factor_" + name)(len(b), *(v.ctypes.data for v in (a, b, c, f)))
    if status > 0:
        raise np.linalg.LinAlgError(f"row {status - 1} met a pivot that is zero or not finite")
    return f


def solve_factored(library, f, d, axis=-1, out=None, threads=THREADS):
    """Solves as solve does, for systems that all have the same matrix; f is its factors, from factor(..)."""
    f, d = require(f, d)
    if f.dtype != d.dtype or f.shape != (3, d.shape[axis]):
        raise ValueError(f"f is {f.dtype} {f.shape}: must be {d.dtype} {(3, d.shape[axis])}")
    return call(library, "solve", (f,), d, axis, out, threads)


def mixed(library, depth, rate, t):
    """Returns t[level, column] after an implicit step of vertical mixing. Column s has depth[s] levels of water,
    0 on land. Below the water a row is 1 x = d: the value stays, and does not affect the water above."""
    level = np.arange(len(t))[:, None]
    a = np.where((level > 0) & (level < depth), -rate, 0).astype(t.dtype)
    c = np.where(level + 1 < depth, -rate, 0).astype(t.dtype)
    return solve(library, a, 1 - a - c, c, t, axis=0)


def problem(shape, dtype, axis=-1):
    """Returns diagonally dominant systems, all different, with NaN where nothing may be read."""
    random = np.random.default_rng(1)
    a, c, d = (random.uniform(-1, 1, shape).astype(dtype) for _ in range(3))
    b = 2.1 + random.uniform(0, 1, shape).astype(dtype)
    np.moveaxis(a, axis, -1)[..., 0] = np.moveaxis(c, axis, -1)[..., -1] = np.nan
    return a, b, c, d


def residual(a, b, c, d, x, axis=-1):
    """Returns max |Ax - d| / max (|A||x| + |d|), in double precision."""
    a, b, c, d, x = (np.moveaxis(v.astype(np.float64), axis, -1) for v in (a, b, c, d, x))
    left, size = b * x - d, abs(b * x) + abs(d)
    for rows, part in ((np.s_[..., 1:], a[..., 1:] * x[..., :-1]), (np.s_[..., :-1], c[..., :-1] * x[..., 1:])):
        left[rows] += part
        size[rows] += abs(part)
    return abs(left).max() / size.max()


def loop(a, b, c, d):
    """Solves by scipy.linalg.solve_banded, a system at a time."""
    x, band = np.empty_like(d), np.zeros((3, d.shape[1]), d.dtype)
    for s in range(len(d)):
        band[0, 1:], band[1], band[2, :-1] = c[s, :-1], b[s], a[s, 1:]
        x[s] = solve_banded((1, 1), band, d[s], check_finite=False)
    return x


def refused(library, arrays, error=TypeError, **options):
    """Returns 0 if solve raises the error, 1 if not."""
    try:
        solve(library, *arrays, **options)
    except error:
        return 0
    print(f"not refused: {[v.dtype.str for v in arrays]}, {[v.shape for v in arrays]}, {options}")
    return 1


def check_refusals(library):
    wrong, system = 0, problem((6, 6), np.float64)
    for dtype in (np.dtype(np.float64).newbyteorder(), np.dtype(np.float32).newbyteorder(), np.float16, np.int64,
                  np.complex128):
        wrong += refused(library, [np.ones((6, 6), dtype) for _ in system])
        wrong += refused(library, system, out=np.ones((6, 6), dtype))
    wrong += refused(library, (system[0].astype(np.float32), *system[1:]))
    out = np.zeros((6, 6))
    out.flags.writeable = False
    wrong += refused(library, system, out=out) + bool(out.any())
    wrong += refused(library, system, out=np.zeros((6, 12))[:, ::2])
    wrong += refused(library, (system[0].reshape(4, 9), *system[1:]), ValueError)
    wrong += refused(library, system, ValueError, out=np.zeros((4, 9)))
    wrong += refused(library, system, ValueError, threads=0)
    return wrong


def check_factored(library):
    """Checks systems with one matrix for all, along any axis."""
    wrong = 0
    for dtype, unit in ((np.float32, 2.0**-24), (np.float64, 2.0**-53)):
        a, b, c, _ = problem(70, dtype)
        f = factor(library, a, b, c)
        for shape, axis in (((3, 5, 70), -1), ((70, 300), 0), ((4, 70, 9), 1)):
            d = problem(shape, dtype)[3]
            each = [np.moveaxis(np.broadcast_to(v, np.moveaxis(d, axis, -1).shape), -1, axis) for v in (a, b, c)]
            wrong += not residual(*each, d, solve_factored(library, f, d, axis), axis) / unit <= 16
        for bad in (f[:, 1:], f.astype(np.float16)):
            try:
                solve_factored(library, bad, d, 1)
                wrong += 1
            except ValueError:
                pass
        b[7] = a[7] = 0
        try:
            factor(library, a, b, c)
            wrong += 1
        except np.linalg.LinAlgError as error:
            wrong += "row 7 " not in str(error)
    return wrong


def check_columns(library):
    """Checks that a step of mixing without sources keeps the heat of each column, and the values below the water."""
    wrong, depth, level = 0, np.arange(300) * 7 % 76, np.arange(75)[:, None]
    for dtype, unit in ((np.float32, 2.0**-24), (np.float64, 2.0**-53)):
        t = np.where(level < depth, 4 + 16 / (level + 1), -999).astype(dtype)
        x = mixed(library, depth, 5, t)
        heat, lost = (np.where(level < depth, v, 0).sum(0, dtype=np.float64) for v in (t, x - t))
        wrong += not (abs(lost) <= 64 * unit * heat).all()
        wrong += not (x == t)[level >= depth].all()
    return wrong


def check(library):
    wrong = check_refusals(library) + check_factored(library) + check_columns(library)
    for dtype, unit in ((np.float32, 2.0**-24), (np.float64, 2.0**-53)):
        for shape, axis in (((3, 5, 70), -1), ((70, 300), 0), ((4, 33, 9), 1), ((1000, 1), 1), ((0, 5), 1),
                            ((0, 5, 3), 1)):
            system = problem(shape, dtype, axis)
            x = solve(library, *system, axis=axis)
            error = residual(*system, x, axis) / unit if x.size else 0
            wrong += not error <= 16  # a few roundings in each row
        a, b, c, d = problem((200, 100), dtype)
        if solve_banded:
            difference = abs(solve(library, a, b, c, d) - loop(a, b, c, d)).max()
            # The residual is a few roundings of a row's terms, whose sum is below 6; the inverse has a norm below 10.
            wrong += not difference <= 256 * unit
            print(f"{np.dtype(dtype).name}: differs from scipy.linalg.solve_banded by {difference:.1e}")
        b[7, 0] = 0
        try:
            solve(library, a, b, c, d)
            wrong += 1
        except np.linalg.LinAlgError as error:
            wrong += "system 7 " not in str(error)
    if not solve_banded:
        print("skipped: numpy_tridiagonal.py: no SciPy here to compare with")
    return wrong


if __name__ == "__main__":
    kit = load(sys.argv[1] if len(sys.argv) > 1 else "./libtriband_cpu.so")
    failures = check(kit)
    print(f"{kit.instruction_set().decode()}, {THREADS} threads:", "failed" if failures else "all as it should be")
    sys.exit(failures > 0)
