"""jax_tridiagonal.py - batches of tridiagonal systems in JAX, by trid/batch.h through jax.ffi: with jit, grad and vmap.
MIT licence, see LICENSE.

In the kit's folder, with the CUDA Toolkit and JAX for CUDA (the first command takes a minute):

    nvcc -std=c++17 -O3 -arch=native -Xcompiler -fPIC -shared -I. \\
        -isystem "$(python3 -c 'import jax; print(jax.ffi.include_dir())')" \\
        -o libtriband_jax.so examples/python/jax_library.cu
    python3 examples/python/jax_tridiagonal.py ./libtriband_jax.so

Checks itself. Exits with 0 if all is well, 1 if not, 3 without a GPU or JAX. bench/python.py times it."""
import ctypes
import os
import sys
from functools import partial

try:
    import jax
except ImportError:
    print("skipped: jax_tridiagonal.py: no JAX here")
    sys.exit(3)
import jax.numpy as jnp
import numpy as np

TRANSPOSED = 16  # TRID_BATCH_TRANSPOSED


def load(path):
    library = ctypes.CDLL(os.path.abspath(path))
    jax.ffi.register_ffi_target("triband_solve", jax.ffi.pycapsule(library.triband_solve), platform="CUDA")


def launch(a, b, c, d, flags=0):
    """Returns x and the status of each system: 0, or 1 + the index of the first bad row. The last axis runs along a
    system, all others over the systems; so an axis that vmap adds in front adds systems to the same call."""
    if any(v.shape != d.shape or v.dtype != d.dtype for v in (a, b, c)):
        raise ValueError("a, b, c, d must have one shape and dtype: "
                         f"{', '.join(f'{v.dtype}{list(v.shape)}' for v in (a, b, c, d))}")
    if d.dtype not in (jnp.float32, jnp.float64):
        raise TypeError(f"{d.dtype} is neither float32 nor float64: convert with .astype")
    results = jax.ShapeDtypeStruct(d.shape, d.dtype), jax.ShapeDtypeStruct(d.shape[:-1], jnp.int32)
    return jax.ffi.ffi_call("triband_solve", results, vmap_method="broadcast_all")(a, b, c, d, flags=np.int64(flags))


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def tridiagonal(transposed, a, b, c, d):
    """Returns A^-1 d, or A^-T d."""
    return launch(a, b, c, d, TRANSPOSED if transposed else 0)[0]


def forward(transposed, a, b, c, d):
    x = tridiagonal(transposed, a, b, c, d)
    return x, (a, b, c, x)


def backward(transposed, kept, g):
    """Returns the gradients. That with respect to d is h = A^-T g. That with respect to A is -h x^T, of which only the
    three diagonals are needed. All functions used are differentiable, so the gradient is differentiable too."""
    a, b, c, x = kept
    h = tridiagonal(not transposed, a, b, c, g)
    row, column = (-x, h) if transposed else (-h, x)
    zero = jnp.zeros_like(h[..., :1])  # a of the first row and c of the last are not used
    return (jnp.concatenate((zero, row[..., 1:] * column[..., :-1]), -1), row * column,
            jnp.concatenate((row[..., :-1] * column[..., 1:], zero), -1), h)


tridiagonal.defvjp(forward, backward)


def solve(a, b, c, d):
    """Returns x, where a[j] x[j-1] + b[j] x[j] + c[j] x[j+1] = d[j], j along the last axis of arrays of one shape."""
    return tridiagonal(False, a, b, c, d)


def peer(a, b, c, d):
    """Solves by JAX's own solver. It needs zeros where this kit reads nothing; problem() provides them."""
    return jax.lax.linalg.tridiagonal_solve(a, b, c, d[..., None])[..., 0]


def problem(systems, n, dtype):
    """Returns diagonally dominant systems, all different."""
    keys = jax.random.split(jax.random.key(1), 4)
    a, c, d = (jax.random.uniform(k, (systems, n), dtype, -1, 1) for k in keys[:3])
    return a.at[:, 0].set(0), jax.random.uniform(keys[3], (systems, n), dtype, 2.1, 3.1), c.at[:, -1].set(0), d


def dense(*system):
    """Solves without the kit, in double precision."""
    a, b, c, d = (v.astype(jnp.float64) for v in system)
    full = jax.vmap(lambda a, b, c: jnp.diag(a[1:], -1) + jnp.diag(b) + jnp.diag(c[:-1], 1))(a, b, c)
    return jnp.linalg.solve(full, d[..., None])[..., 0]


def check_refusals():
    """Checks that different shapes raise an error, even if the number of elements is the same: in launch, and in the
    library, for programs that call it directly."""
    a, b, c, d = problem(4, 6, jnp.float64)

    def refused(error, call, *arguments):
        try:
            jax.block_until_ready(call(*arguments))
        except error:
            return True
        print("not refused:", call, [v.shape for v in arguments])
        return False

    def library(a, b, c, d, x=d, status=d[:, 0]):
        results = jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct(status.shape, jnp.int32)
        return jax.ffi.ffi_call("triband_solve", results)(a, b, c, d, flags=np.int64(0))

    library(a, b, c, d)  # a correct call is not refused
    wrong = 0
    for call, error in ((solve, ValueError), (library, Exception)):
        for system in ((a.T, b, c, d), (a, b.T, c, d), (a, b, c.T, d), (a, b, c, d.T), (a.ravel(), b, c, d),
                       (a.astype(jnp.float32), b, c, d)):
            wrong += not refused(error, call, *system)
    wrong += not refused(TypeError, solve, *(v.astype(jnp.float16) for v in (a, b, c, d)))
    wrong += not refused(Exception, library, a, b, c, d, d.T)
    return wrong + (not refused(Exception, library, a, b, c, d, d, d[:2, 0]))


def check():
    wrong = check_refusals()

    def small(what, difference, most):
        nonlocal wrong
        largest = max(float(abs(v).max()) for v in jax.tree.leaves(difference))
        wrong += not largest <= most
        print(f"{what}: {largest:.1e}")

    for dtype, unit in ((jnp.float32, 2.0**-24), (jnp.float64, 2.0**-53)):
        for n in (1, 2, 31, 256, 1500):
            # The residual is a few roundings of a row's terms, whose sum is below 6; the inverse has a norm below 10.
            system = problem(20, n, dtype)
            small(f"{dtype.__name__}, n = {n}: differs from a dense solve by",
                  jax.jit(solve)(*system) - dense(*system), 256 * unit)

    a, b, c, d = problem(12, 100, jnp.float64)
    status = jax.jit(launch)(a, b.at[7, 0].set(0), c, d)[1]
    wrong += status.tolist() != 7 * [0] + [1] + 4 * [0]

    # vmap: with one system a call; with one matrix for all systems, along an axis that is not the first.
    small("vmap", jax.vmap(solve)(a, b, c, d) - solve(a, b, c, d), 0)
    one = jax.jit(jax.vmap(solve, in_axes=(None, None, None, 1), out_axes=1))(a[0], b[0], c[0], d.T)
    small("vmap, one matrix", one.T - solve(*(jnp.broadcast_to(v[0], d.shape) for v in (a, b, c)), d), 1e-15)

    def loss(method, *system):
        return (method(*system) ** 3).sum()

    gradient = [jax.jit(jax.grad(partial(loss, method), argnums=(0, 1, 2, 3)))(a, b, c, d) for method in (solve, dense)]
    small("gradient: differs from that of a dense solve by", jax.tree.map(jnp.subtract, *gradient), 1e-12)

    def loss_of_one(method, b, a, c, d):
        return loss(method, a[None], b[None], c[None], d[None])

    hessian = [jax.vmap(jax.jacrev(jax.grad(partial(loss_of_one, method))))(b, a, c, d) for method in (solve, dense)]
    small("second derivatives with respect to b, likewise", hessian[0] - hessian[1], 1e-11)
    return wrong


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        print("skipped: jax_tridiagonal.py: no GPU that JAX can use")
        sys.exit(3)
    load(sys.argv[1] if len(sys.argv) > 1 else "./libtriband_jax.so")
    failures = check()
    print(f"JAX {jax.__version__}, {jax.devices()[0].device_kind}:", "failed" if failures else "all as it should be")
    sys.exit(failures > 0)
