"""torch_tridiagonal.py - batches of tridiagonal systems in PyTorch, by trid/batch.h through ctypes: differentiable, on
the current stream, and in CUDA graphs.
MIT licence, see LICENSE.

In the kit's folder, with the CUDA Toolkit and PyTorch 2 for CUDA (the first command takes a minute or two):

    nvcc -O3 -arch=native -Xcompiler -fPIC -shared -I. -o libtriband.so examples/python/gpu_library.cu
    python3 examples/python/torch_tridiagonal.py ./libtriband.so

Checks itself. Exits with 0 if all is well, 1 if not, 3 without a GPU or PyTorch. bench/python.py times it."""
import ctypes
import os
import sys

try:
    import torch
except ImportError:
    print("skipped: torch_tridiagonal.py: no PyTorch here")
    sys.exit(3)

TRANSPOSED = 16  # TRID_BATCH_TRANSPOSED


class Lines(ctypes.Structure):
    """Where systems lie: element j of system s of group g at [j*step + s*stride + g*jump]; trid_lines in C."""
    _fields_ = [(name, ctypes.c_longlong) for name in ("n", "step", "systems", "stride", "groups", "jump")]


class Options(ctypes.Structure):
    """The options of a launch; trid_batch_options in C."""
    _fields_ = [("flags", ctypes.c_int), ("status", ctypes.c_void_p), ("residual", ctypes.c_void_p),
                ("tolerance", ctypes.c_double), ("failed", ctypes.c_void_p), ("scratch", ctypes.c_void_p),
                ("scratch_bytes", ctypes.c_longlong), ("device", ctypes.c_void_p)]


def load(path):
    global kit
    kit = ctypes.CDLL(os.path.abspath(path))
    for function in (kit.trid_batch_solve_f32, kit.trid_batch_solve_f64):
        pointer = ctypes.c_void_p
        function.argtypes = [Lines, *5 * [pointer], ctypes.POINTER(Options), pointer]
    kit.batch_scratch.argtypes, kit.batch_scratch.restype = [Lines, ctypes.c_int, ctypes.c_int], ctypes.c_longlong
    kit.batch_status_string.restype = ctypes.c_char_p


def launch(a, b, c, d, flags=0, status=None):
    """Returns x; systems run along the last axis. status, int32 with the other axes, receives 0, or 1 + a bad row."""
    a, b, c, d = (v.resolve_neg().contiguous() for v in (a, b, c, d))
    if any(v.shape != d.shape or v.dtype != d.dtype or v.device != d.device or not v.is_cuda for v in (a, b, c, d)):
        raise ValueError("a, b, c, d must have one shape and dtype, and be on one GPU")
    if d.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"{d.dtype} is neither float32 nor float64: convert with .to")
    if status is not None and ((status.dtype, status.shape, status.device) != (torch.int32, d.shape[:-1], d.device) or
                               not status.is_contiguous()):
        raise ValueError(f"status must be int32 of shape {tuple(d.shape[:-1])}, contiguous, on {d.device}")
    x, n = torch.empty_like(d), d.shape[-1]
    lines = Lines(n, 1, d[..., 0].numel() if n else 0, n, 1, 0)
    bytes_needed = kit.batch_scratch(lines, flags, d.element_size())  # 0 up to n = 1024
    scratch = torch.empty(max(bytes_needed, 0), dtype=torch.uint8, device=d.device)
    options = Options(flags=flags, scratch=scratch.data_ptr(), scratch_bytes=bytes_needed,
                      status=status.data_ptr() if status is not None else None)
    with torch.cuda.device(d.device):
        solve = {torch.float32: kit.trid_batch_solve_f32, torch.float64: kit.trid_batch_solve_f64}[d.dtype]
        code = solve(lines, *(v.data_ptr() for v in (a, b, c, d, x)), options,
                     torch.cuda.current_stream().cuda_stream)
    if code:
        raise RuntimeError(kit.batch_status_string(code).decode())
    return x


class Tridiagonal(torch.autograd.Function):
    """x = A^-1 d, or A^-T d. If g is the gradient with respect to x, that with respect to d is h = A^-T g. That with
    respect to A is -h x^T, of which only the three diagonals are needed. All functions used are differentiable, so
    the gradient is differentiable too."""
    @staticmethod
    def forward(a, b, c, d, transposed):
        return launch(a, b, c, d, TRANSPOSED if transposed else 0)

    @staticmethod
    def setup_context(ctx, inputs, x):
        a, b, c, d, ctx.transposed = inputs
        ctx.save_for_backward(a, b, c, x)

    @staticmethod
    def backward(ctx, g):
        a, b, c, x = ctx.saved_tensors
        h = Tridiagonal.apply(a, b, c, g, not ctx.transposed)
        row, column = (-x, h) if ctx.transposed else (-h, x)
        zero = torch.zeros_like(h[..., :1])  # a of the first row and c of the last are not used
        return (torch.cat((zero, row[..., 1:] * column[..., :-1]), -1), row * column,
                torch.cat((row[..., :-1] * column[..., 1:], zero), -1), h, None)

    @staticmethod
    def vmap(info, in_dims, *inputs):
        """Puts vmap's axis in front of the others: the same call then solves more systems."""
        system = [v.expand(info.batch_size, *v.shape) if axis is None else v.movedim(axis, 0)
                  for v, axis in zip(inputs[:4], in_dims)]
        return Tridiagonal.apply(*system, inputs[4]), 0


def solve(a, b, c, d):
    """Returns x, where a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], j along the last axis of tensors of one shape."""
    return Tridiagonal.apply(a, b, c, d, False)


def problem(systems, n, dtype):
    """Returns diagonally dominant systems, all different."""
    torch.manual_seed(1)
    a, c, d = (2 * torch.rand(systems, n, dtype=dtype, device="cuda") - 1 for _ in range(3))
    return a, 2.1 + torch.rand_like(a), c, d


def dense(a, b, c):
    return torch.diag_embed(a[..., 1:], -1) + torch.diag_embed(b) + torch.diag_embed(c[..., :-1], 1)


def loop(a, b, c, d):
    """Solves by the Thomas algorithm, a row of all systems at a time: n steps of a few operations down, and n up."""
    n, r, u = len(d), [c[0] / b[0]], [d[0] / b[0]]
    for j in range(1, n):
        pivot = b[j] - a[j] * r[-1]
        r.append(c[j] / pivot)
        u.append((d[j] - a[j] * u[-1]) / pivot)
    for j in range(n - 2, -1, -1):
        u[j] = u[j] - r[j] * u[j + 1]
    return torch.stack(u)


def check():
    wrong = 0
    for dtype, unit in ((torch.float32, 2.0**-24), (torch.float64, 2.0**-53)):
        for n in (1, 2, 31, 256, 1500):
            a, b, c, d = problem(20, n, dtype)
            exact = torch.linalg.solve(dense(a, b, c).double(), d.double())
            difference = (solve(a, b, c, d) - exact).abs().max().item()
            # The residual is a few roundings of a row's terms, whose sum is below 6; the inverse has a norm below 10.
            wrong += not difference <= 256 * unit
            print(f"{dtype}, n = {n}: differs from torch.linalg.solve by {difference:.1e}")
    a, b, c, d = problem(20, 100, torch.float64)
    sick, status = b.clone(), torch.empty(20, dtype=torch.int32, device="cuda")
    sick[7, 0] = 0
    launch(a, sick, c, d, 0, status)
    wrong += status.nonzero().flatten().tolist() != [7] or status[7].item() != 1

    inputs = [v.requires_grad_() for v in problem(3, 7, torch.float64)]
    wrong += not torch.autograd.gradcheck(solve, inputs) or not torch.autograd.gradgradcheck(solve, inputs)
    return wrong + check_func() + check_refusals() + check_graph()


def check_func():
    """Checks torch.func against a dense solve: vmap over another axis with one matrix for all systems, and the gradient
    and second derivatives of each system."""
    a, b, c, d = problem(4, 6, torch.float64)

    def energy(method):
        return lambda b, a, c, d: (method(a, b, c, d) ** 3).sum()

    def exact(a, b, c, d):
        return torch.linalg.solve(dense(a, b, c), d)

    one = torch.func.vmap(solve, (None, None, None, 1), 1)(a[0], b[0], c[0], d.T)
    pairs = [(one.T, torch.linalg.solve(dense(a[0], b[0], c[0]), d.T).T)]
    for derivative in (torch.func.grad, lambda f: torch.func.jacrev(torch.func.grad(f))):
        pairs.append([torch.func.vmap(derivative(energy(method)))(b, a, c, d) for method in (solve, exact)])
    # Roundings of numbers below 100; an error in a formula would show in the first digits.
    return sum(not (ours - theirs).abs().max().item() <= 1e-12 for ours, theirs in pairs)


def check_refusals():
    """Checks that an array that the library would misread raises an error instead."""
    system = problem(4, 6, torch.float64)
    a, b, c, d = system

    def raises(error, call, *arguments):
        try:
            call(*arguments)
        except error:
            return True
        return False

    status = torch.zeros(8, dtype=torch.int32, device=d.device)
    wrong = sum(not raises(ValueError, launch, *system, 0, bad)
                for bad in (status[:2], status[::2], status[:4, None], status[:4].long(), status[:4].cpu()))
    wrong += not raises(TypeError, solve, *(v.half() for v in system))
    wrong += not raises(ValueError, solve, a.T, b, c, d)
    negative = solve(a, b, c, torch._neg_view(d))
    return wrong + (not torch.equal(negative, -solve(*system)))


def check_graph():
    a, b, c, d = problem(20, 100, torch.float64)
    with torch.no_grad():  # replays use the same memory; an earlier check has loaded the kernel
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            x = solve(a, b, c, d)
        d.copy_(torch.rand_like(d))
        graph.replay()
        return not torch.equal(x, solve(a, b, c, d))


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("skipped: torch_tridiagonal.py: no GPU that PyTorch can use")
        sys.exit(3)
    load(sys.argv[1] if len(sys.argv) > 1 else "./libtriband.so")
    failures = check()
    name = f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}"
    print(f"{name}:", "failed" if failures else "all as it should be")
    sys.exit(failures > 0)
