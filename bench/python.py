"""python.py - times the programs of examples/python beside the alternatives to them.
MIT licence, see LICENSE.

    python3 bench/python.py numpy ./libtriband_cpu.so FILE
    python3 bench/python.py torch ./libtriband.so FILE
    python3 bench/python.py jax ./libtriband_jax.so FILE

Each command appends to FILE; the first also writes the names of the columns. Run one after the other, since each
library takes memory for itself. A solve moves at least five arrays, and its gradient by a, b, c and d nine more: it
reads a, b, c, x and the gradient by x, and writes four gradients. pct_of_copy is the speed as a share of a copy's in
the same run."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "python"))
N, SYSTEMS = 256, 524288


def write(path, program, machine, copy, rows):
    """Writes rows of method, precision, n, systems, arrays moved, milliseconds."""
    with open(path, "a") as out:
        header = "" if out.tell() else "program,method,precision,n,systems,ms,gbytes_per_s,pct_of_copy\n"
        out.write(f"# {machine}, {time.strftime('%Y-%m-%d')}; copy: {copy:.0f} GB/s\n{header}")
        for method, precision, n, systems, arrays, ms in rows:
            speed = 1e-6 * arrays * n * systems * {"f32": 4, "f64": 8}[precision] / ms
            out.write(f"{program},{method},{precision},{n},{systems},{ms:.4g},{speed:.4g},{100 * speed / copy:.3g}\n")
            out.flush()


def with_numpy(library, path):
    from concurrent.futures import ThreadPoolExecutor
    import numpy as np
    import numpy_tridiagonal as example
    kit, threads = example.load(library), example.THREADS

    def ms(call, times):
        taken = []
        for _ in range(times + 1):
            start = time.perf_counter()
            call()
            taken.append(1e3 * (time.perf_counter() - start))
        return sorted(taken[1:])[times // 2]

    def rows():
        for dtype, precision in ((np.float32, "f32"), (np.float64, "f64")):
            systems, few = SYSTEMS // 8, 4096
            a, b, c, d = example.problem((systems, N), dtype)
            x = np.empty_like(d)
            taken = ms(lambda: example.solve(kit, a, b, c, d, out=x), 9)
            yield "cpu_avx_thomas", precision, N, systems, 5, taken
            first = [v[:few] for v in (a, b, c, d)]
            taken = ms(lambda: example.solve(kit, *first, out=x[:few], threads=1), 9)
            yield "cpu_avx_thomas_one_thread", precision, N, few, 5, taken
            if example.solve_banded:
                taken = ms(lambda: example.loop(*first), 3)
                yield "scipy_solve_banded_loop", precision, N, few, 5, taken

    of, to = np.ones(2**29, np.uint8), np.zeros(2**29, np.uint8)
    parts = [slice(of.size * i // threads, of.size * (i + 1) // threads) for i in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        copy = 2e-6 * of.size / ms(lambda: list(pool.map(lambda part: np.copyto(to[part], of[part]), parts)), 9)
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "a CPU")
    machine = f"{model}, {threads} threads, {kit.instruction_set().decode()}, NumPy {np.__version__}"
    write(path, "numpy", machine, copy, rows())


def with_torch(library, path):
    import torch
    import torch_tridiagonal as example
    example.load(library)

    def ms(call, times=20):
        event = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(times)]
        for _ in range(3):
            call()
        for start, stop in event:
            start.record()
            call()
            stop.record()
        torch.cuda.synchronize()
        return sorted(start.elapsed_time(stop) for start, stop in event)[times // 2]

    def rows():
        for dtype, precision in ((torch.float32, "f32"), (torch.float64, "f64")):
            for n in (N, 8 * N):
                systems = SYSTEMS * N // n
                a, b, c, d = example.problem(systems, n, dtype)
                yield "trid_batch_solve", precision, n, systems, 5, ms(lambda: example.solve(a, b, c, d))
                leaves, g = [v.requires_grad_() for v in (a, b, c, d)], torch.rand_like(d)
                taken = ms(lambda: torch.autograd.grad(example.solve(*leaves), leaves, g))
                yield "trid_batch_solve_and_gradient", precision, n, systems, 14, taken
            few, rowwise = 4096, [v.detach().reshape(-1, N) for v in (a, b, c, d)]
            full, right = example.dense(*(v[:few] for v in rowwise[:3])), rowwise[3][:few].clone()
            yield "torch_linalg_solve_dense", precision, N, few, 5, ms(lambda: torch.linalg.solve(full, right), 3)
            del full
            rowwise = [v.t().contiguous() for v in rowwise]
            yield "loop_over_rows", precision, N, SYSTEMS, 5, ms(lambda: example.loop(*rowwise), 3)

    of, to = (torch.ones(2**32, dtype=torch.uint8, device="cuda") for _ in range(2))
    copy = 2e-6 * of.numel() / ms(lambda: to.copy_(of))
    del of, to
    machine = f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"
    write(path, "torch", machine, copy, rows())


def with_jax(library, path):
    import jax
    import jax.numpy as jnp
    import jax_tridiagonal as example
    jax.config.update("jax_enable_x64", True)
    example.load(library)

    def ms(call, *system, times=20):
        """Returns the milliseconds of a call, from a run of calls, since they are asynchronous."""
        function, taken = jax.jit(call), []
        for _ in range(2):
            jax.block_until_ready(function(*system))
        for _ in range(3):
            start = time.perf_counter()
            for _ in range(times):
                result = function(*system)
            jax.block_until_ready(result)
            taken.append(1e3 * (time.perf_counter() - start) / times)
        return sorted(taken)[1]

    def rows():
        for dtype, precision in ((jnp.float32, "f32"), (jnp.float64, "f64")):
            system = example.problem(SYSTEMS, N, dtype)
            weight = jax.random.uniform(jax.random.key(2), (SYSTEMS, N), dtype)
            for method, name in ((example.solve, "trid_batch_solve"), (example.peer, "jax_lax_tridiagonal_solve")):
                def gradient(weight, *system):
                    return jax.vjp(method, *system)[1](weight)
                yield name, precision, N, SYSTEMS, 5, ms(method, *system)
                yield name + "_and_gradient", precision, N, SYSTEMS, 14, ms(gradient, weight, *system)

    of = jnp.ones(2**30, jnp.float32)
    copy = 2e-6 * of.nbytes / ms(jnp.negative, of)  # reads and writes as a copy does, which XLA would leave out
    del of
    write(path, "jax", f"{jax.devices()[0].device_kind}, JAX {jax.__version__}", copy, rows())


if __name__ == "__main__":
    {"numpy": with_numpy, "torch": with_torch, "jax": with_jax}[sys.argv[1]](sys.argv[2], sys.argv[3])
