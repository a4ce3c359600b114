"""numpy_tridiagonal.py - batches of tridiagonal systems in NumPy arrays, by cpu_avx.h through ctypes.
MIT licence, see LICENSE.

In the kit's folder, with gcc and NumPy (and SciPy, to compare with, if it is installed):

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
    for name in ("f32", "f64"):
        size, thomas = getattr(library, "thomas_bytes_" + name), getattr(library, "thomas_" + name)
        size.restype, size.argtypes = ctypes.c_size_t, [ctypes.POINTER(Lines), ctypes.c_int]
        thomas.argtypes = [ctypes.POINTER(Lines)] + 6 * [ctypes.c_void_p] + [ctypes.c_int]
    library.instruction_set.restype = ctypes.c_char_p
    return library


NAMES = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}


def checked(a, b, c, d, x):
    """Returns the precision of five arrays. The library sees only addresses, so this function checks the arrays."""
    for v in (a, b, c, d, x):
        if v.dtype not in NAMES:  # another byte order is another dtype
            raise TypeError(f"{v.dtype} is neither float32 nor float64 in this machine's byte order: "
                            "convert with .astype(np.float64)")
        if v.dtype != d.dtype:
            raise TypeError(f"{v.dtype} beside {d.dtype}: convert with .astype, so that all arrays have one dtype")
        if v.shape != d.shape:
            raise ValueError(f"shape {v.shape} beside {d.shape}: all arrays must have one shape")
    if not x.flags.carray:
        raise TypeError("out must be writeable, C-contiguous and aligned: pass np.empty_like(d)")
    return NAMES[d.dtype]


def solve(library, a, b, c, d, axis=-1, out=None, threads=THREADS):
    """x of a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], j along one axis of arrays of one shape and dtype
    (float32 or float64), a system for each choice of the other indices. Along any axis the systems are solved
    where they lie; nothing is transposed. Raises LinAlgError if a system has no solution."""
    a, b, c, d = (np.require(v, requirements=("C", "A")) for v in (a, b, c, d))
    x = np.empty_like(d) if out is None else out
    if threads < 1:
        raise ValueError(f"threads = {threads}: must be at least 1")
    name = checked(a, b, c, d, x)
    n, axis = d.shape[axis], axis % d.ndim
    before, after = math.prod(d.shape[:axis]), math.prod(d.shape[axis + 1:])
    lines = Lines(n, after, after if before else 0, 1, before, n * after)  # groups = 0 would mean one group
    if after == 1:
        lines = Lines(n, 1, before, n, 1, 0)
    work = np.empty(getattr(library, "thomas_bytes_" + name)(lines, threads), np.uint8)
    pointers = [v.ctypes.data for v in (a, b, c, d, x, work)]
    status = getattr(library, "thomas_" + name)(lines, *pointers, threads)
    if status > 0:
        raise np.linalg.LinAlgError(f"system {status - 1} met a pivot that is zero or not finite")
    if status < 0:
        raise ValueError(f"status {status}: see cpu_avx_status_string")
    return x


def mixed(library, depth, rate, t):
    """Returns t[level, column] after an implicit step of vertical mixing. Column s is water down to depth[s] levels, 0
    on land. Below the water a row is 1 x = d, so the value there stays, and does not affect the water above."""
    level = np.arange(len(t))[:, None]
    a = np.where((level > 0) & (level < depth), -rate, 0).astype(t.dtype)
    c = np.where(level + 1 < depth, -rate, 0).astype(t.dtype)
    return solve(library, a, 1 - a - c, c, t, axis=0)


def problem(shape, dtype, axis=-1):
    """Diagonally dominant matrices, all different, with NaN where nothing may be read."""
    random = np.random.default_rng(1)
    a, c, d = (random.uniform(-1, 1, shape).astype(dtype) for _ in range(3))
    b = 2.1 + random.uniform(0, 1, shape).astype(dtype)
    np.moveaxis(a, axis, -1)[..., 0] = np.moveaxis(c, axis, -1)[..., -1] = np.nan
    return a, b.astype(dtype), c, d


def residual(a, b, c, d, x, axis=-1):
    """max |Ax - d| / max (|A||x| + |d|), in double precision."""
    a, b, c, d, x = (np.moveaxis(v.astype(np.float64), axis, -1) for v in (a, b, c, d, x))
    left, size = b * x - d, abs(b * x) + abs(d)
    for rows, part in ((np.s_[..., 1:], a[..., 1:] * x[..., :-1]), (np.s_[..., :-1], c[..., :-1] * x[..., 1:])):
        left[rows] += part
        size[rows] += abs(part)
    return abs(left).max() / size.max()


def loop(a, b, c, d):
    """scipy.linalg.solve_banded, a system at a time."""
    x, band = np.empty_like(d), np.zeros((3, d.shape[1]), d.dtype)
    for s in range(len(d)):
        band[0, 1:], band[1], band[2, :-1] = c[s, :-1], b[s], a[s, 1:]
        x[s] = solve_banded((1, 1), band, d[s], check_finite=False)
    return x


def refused(library, arrays, error=TypeError, **options):
    """0 if solve raises the error, 1 if not."""
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


def check_columns(library):
    """Without sources a step of mixing keeps the heat of each column, and what lies below the water."""
    wrong, depth, level = 0, np.arange(300) * 7 % 76, np.arange(75)[:, None]
    for dtype, unit in ((np.float32, 2.0**-24), (np.float64, 2.0**-53)):
        t = np.where(level < depth, 4 + 16 / (level + 1), -999).astype(dtype)
        x = mixed(library, depth, 5, t)
        heat, lost = (np.where(level < depth, v, 0).sum(0, dtype=np.float64) for v in (t, x - t))
        wrong += not (abs(lost) <= 64 * unit * heat).all()
        wrong += not (x == t)[level >= depth].all()
    return wrong


def check(library):
    wrong = check_refusals(library) + check_columns(library)
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
            # A few roundings of a row's terms, whose sum is below 6, go through an inverse below 10.
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
